#pragma once

#include <string>
#include <string_view>

namespace atc::report {

/// The compilation report as a page for people: one file without scripts, pictures or links to elsewhere.
/// `json` is the report's own JSON; sections that the page has no table of its own for are shown as they are.
std::string html_report(std::string_view json);

}  // namespace atc::report
