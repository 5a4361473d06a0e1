#include "driver/memory_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "atc/base/file.h"
#include "atc/base/math.h"
#include "atc/base/strings.h"

namespace atc::driver {
namespace {

constexpr std::array<std::string_view, 4> kColumns = {"id", "lower", "upper", "size"};

std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields = split(line, ',');
  for (std::string& field : fields) field = std::string(trim(field));
  return fields;
}

Status bad(const std::string& name, std::size_t line, const std::string& what) {
  return Status::error("E13005", name + ", line " + std::to_string(line) + ": " + what);
}

// For each of kColumns its place in a line.
StatusOr<std::array<std::size_t, 4>> parse_heading(std::string_view line, const std::string& name) {
  const std::vector<std::string> titles = fields_of(line);
  std::array<std::size_t, 4> at = {};
  bool complete = titles.size() == kColumns.size();
  for (std::size_t c = 0; c < kColumns.size() && complete; ++c) {
    const auto found = std::find(titles.begin(), titles.end(), kColumns[c]);
    complete = found != titles.end();
    at[c] = static_cast<std::size_t>(found - titles.begin());
  }
  if (!complete)
    return bad(name, 1,
               "the heading must have the columns id,lower,upper,size; it is '" +
                   printable(line.substr(0, 80)) + "'");
  return at;
}

}  // namespace

StatusOr<MemoryProblem> parse_memory_csv(std::string_view text, const std::string& name) {
  const std::vector<std::string> lines = split(text, '\n');
  ATC_ASSIGN(const auto at, parse_heading(trim(lines.front()), name));
  MemoryProblem out;
  std::int64_t total = 0;
  for (std::size_t n = 1; n < lines.size(); ++n) {
    if (trim(lines[n]).empty()) continue;
    const std::vector<std::string> fields = fields_of(lines[n]);
    if (fields.size() != kColumns.size())
      return bad(name, n + 1, "4 fields are expected, there are " + std::to_string(fields.size()));
    std::array<std::int64_t, 4> values = {};
    for (std::size_t c = 1; c < kColumns.size(); ++c) {
      const std::optional<std::int64_t> value = integer(fields[at[c]]);
      if (!value || *value < 0)
        return bad(name, n + 1,
                   std::string(kColumns[c]) + " must be an integer from 0 to 2^63-1, it is '" +
                       printable(fields[at[c]]) + "'");
      values[c] = *value;
    }
    const plan::Lifetime buffer = {values[1], values[2], values[3]};
    if (buffer.lower >= buffer.upper)
      return bad(name, n + 1,
                 "upper must be greater than lower: " + std::to_string(buffer.lower) + " to " +
                     std::to_string(buffer.upper));
    const std::optional<std::int64_t> sum = checked_add(total, buffer.size);
    if (!sum) return bad(name, n + 1, "the sum of the sizes exceeds 2^63-1");
    total = *sum;
    out.ids.push_back(fields[at[0]]);
    out.buffers.push_back(buffer);
  }
  return out;
}

StatusOr<MemoryProblem> read_memory_csv(const std::filesystem::path& path) {
  ATC_ASSIGN(const Bytes bytes, map_file(path));
  return parse_memory_csv({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

std::string memory_csv_text(const MemoryProblem& problem, const plan::MemoryLayout& layout) {
  std::string text = "id,lower,upper,size,offset\n";
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const plan::Lifetime& b = problem.buffers[i];
    text += problem.ids[i] + ',' + std::to_string(b.lower) + ',' + std::to_string(b.upper) + ',' +
            std::to_string(b.size) + ',' + std::to_string(layout.offsets[i]) + '\n';
  }
  return text;
}

}  // namespace atc::driver
