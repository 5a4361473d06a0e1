#include "text_lexer.h"

#include <algorithm>

namespace atc::ir::text {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

std::string Lexer::place(std::size_t offset) const {
  const std::string_view before = source_.substr(0, std::min(offset, source_.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(before.size() - start + 1);
}

void Lexer::skip_space() {
  while (at_ < source_.size()) {
    const char c = source_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (source_.substr(at_, 2) == "//") {
      at_ = std::min(source_.find('\n', at_), source_.size());
    } else {
      return;
    }
  }
}

std::size_t Lexer::scan_number(std::size_t at) const {
  const bool hex = source_.substr(at, 2) == "0x";
  std::size_t end = at;
  while (end < source_.size()) {
    const char c = source_[end];
    const bool exponent_sign =
        !hex && (c == '+' || c == '-') && (source_[end - 1] == 'e' || source_[end - 1] == 'E');
    if (!is_word(c) && !exponent_sign) break;
    ++end;
  }
  return end;
}

void Lexer::advance() {
  skip_space();
  const std::size_t start = at_;
  const auto emit = [&](TokenKind kind, std::size_t end) {
    token_ = {kind, source_.substr(start, end - start), start};
    at_ = end;
  };
  if (start >= source_.size()) return emit(TokenKind::End, start);
  const char c = source_[start];
  const char next = start + 1 < source_.size() ? source_[start + 1] : '\0';
  if (is_letter(c) || c == '?') {
    std::size_t end = start + 1;
    while (end < source_.size() && is_word(source_[end])) ++end;
    return emit(TokenKind::Word, end);
  }
  if (is_digit(c)) return emit(TokenKind::Number, scan_number(start));
  if (c == '-' && (is_digit(next) || next == 'i')) return emit(TokenKind::Number, scan_number(start + 1));
  if (c == '"') {
    std::size_t end = start + 1;
    while (end < source_.size() && source_[end] != '"') end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) return emit(TokenKind::Bad, source_.size());
    token_ = {TokenKind::String, source_.substr(start + 1, end - start - 1), start};
    at_ = end + 1;
    return;
  }
  const std::string_view two = source_.substr(start, 2);
  if (two == "->" || two == "::") return emit(TokenKind::Punct, start + 2);
  constexpr std::string_view kPunct = "()[]{},:=@%^*";
  return emit(kPunct.find(c) == std::string_view::npos ? TokenKind::Bad : TokenKind::Punct, start + 1);
}

bool unescape(std::string_view raw, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    if (++i >= raw.size()) return false;
    switch (raw[i]) {
      case '"':
      case '\\':
        out += raw[i];
        break;
      case 'n':
        out += '\n';
        break;
      case 't':
        out += '\t';
        break;
      case 'x': {
        if (i + 2 >= raw.size()) return false;
        const int high = hex_digit(raw[i + 1]);
        const int low = hex_digit(raw[i + 2]);
        if (high < 0 || low < 0) return false;
        out += static_cast<char>(high * 16 + low);
        i += 2;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

}  // namespace atc::ir::text
