#include "ascendc/reports.h"

#include <algorithm>
#include <cctype>
#include <fstream>

namespace atc::ascendc {

std::string place(const AtcSite& site) {
  if (site.file == nullptr) return "unknown place";
  const std::string_view file = site.file;
  return std::string(file.substr(file.find_last_of('/') + 1)) + ":" + std::to_string(site.line);
}

std::string to_string(const Diagnostic& d) {
  std::string s = d.file.empty() ? std::string("kernel") : place({d.file.c_str(), d.line});
  s += d.error ? ": error: " : ": warning: ";
  s += d.text + " [" + d.rule + "]";
  if (d.block >= 0) s += " (block " + std::to_string(d.block) + ")";
  if (d.times > 1) s += " (" + std::to_string(d.times) + " times)";
  return s;
}

namespace {

Diagnostic* find(std::vector<Diagnostic>& list, std::string_view rule, std::string_view file, int line) {
  const auto it = std::find_if(list.begin(), list.end(), [&](const Diagnostic& d) {
    return d.line == line && d.rule == rule && d.file == file;
  });
  return it == list.end() ? nullptr : &*it;
}

std::string_view file_of(const AtcSite* site) {
  return site == nullptr || site->file == nullptr ? std::string_view() : site->file;
}
int line_of(const AtcSite* site) { return site == nullptr || site->file == nullptr ? 0 : site->line; }

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

bool Reports::seen(std::string_view rule, const AtcSite* site) {
  Diagnostic* known = find(list_, rule, file_of(site), line_of(site));
  if (known != nullptr) ++known->times;
  return known != nullptr;
}

void Reports::add(bool error, std::string_view rule, const AtcSite* site, std::string text) {
  list_.push_back(
      {error, std::string(rule), std::string(file_of(site)), line_of(site), block_, std::move(text), 1});
}

std::vector<Diagnostic> merge(const std::vector<const Reports*>& cores) {
  std::vector<Diagnostic> all;
  for (const Reports* core : cores)
    for (const Diagnostic& d : core->list()) {
      if (Diagnostic* known = find(all, d.rule, d.file, d.line))
        known->times += d.times;
      else
        all.push_back(d);
    }
  std::stable_sort(all.begin(), all.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.error && !b.error; });
  return all;
}

std::string name_at(const AtcSite& site, std::string_view call, bool object, int nth) {
  if (site.file == nullptr) return {};
  std::ifstream in(site.file);
  std::string text;
  for (int line = 1; line <= site.line && std::getline(in, text); ++line)
    if (line < site.line) text.clear();
  std::size_t at = text.find(call);
  if (at == std::string::npos) return {};
  // A line in a loop has one call for all.
  const bool alone = text.find(call, at + 1) == std::string::npos;
  for (int i = 0; i < nth && !alone && at != std::string::npos; ++i) at = text.find(call, at + 1);
  if (at == std::string::npos) return {};
  if (object) {
    std::size_t end = at;
    if (end >= 1 && text[end - 1] == '.')
      --end;
    else if (end >= 2 && text.compare(end - 2, 2, "->") == 0)
      end -= 2;
    else
      return {};
    std::size_t begin = end;
    while (begin > 0 && (is_name(text[begin - 1]) || text[begin - 1] == '[' || text[begin - 1] == ']'))
      --begin;
    return text.substr(begin, end - begin);
  }
  std::size_t begin = text.find('(', at);
  if (begin == std::string::npos) return {};
  ++begin;
  std::size_t end = begin;
  int depth = 0;
  while (end < text.size() && (depth > 0 || (text[end] != ',' && text[end] != ')'))) {
    depth += text[end] == '[' || text[end] == '(';
    depth -= text[end] == ']' || text[end] == ')';
    ++end;
  }
  std::string name = text.substr(begin, end - begin);
  while (!name.empty() && name.front() == ' ') name.erase(0, 1);
  if (name.rfind("this->", 0) == 0) name.erase(0, 6);
  return name;
}

}  // namespace atc::ascendc
