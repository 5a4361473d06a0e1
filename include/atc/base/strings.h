#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atc {

std::vector<std::string> split(std::string_view text, char separator);  ///< keeps empty parts
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text);
/// Text of a file of unknown origin, fit for one line of a terminal: control bytes, which could steer it or
/// break the line, are written as \xNN. Other bytes, UTF-8 among them, stay.
std::string printable(std::string_view text);
/// Levenshtein distance; for "did you mean".
std::size_t edit_distance(std::string_view a, std::string_view b);
/// The candidate nearest to `text`, or "" when none is near.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates);

}  // namespace atc
