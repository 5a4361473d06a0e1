#include "profile/pipe_table.h"

#include <cstdio>
#include <ostream>

namespace atc::profile {

using aicore::Pipe;

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

void write_pipe_table(std::ostream& out, std::span<const LaunchProfile> launches) {
  out << "Op Name,Core,Cycles,Time(us)";
  for (int p = 0; p < aicore::kPipeCount; ++p)
    for (const char* figure : {"busy", "wait", "overlap"})
      out << ',' << aicore::name(static_cast<Pipe>(p)) << ' ' << figure << "(cycles)";
  out << ",Copy(cycles),Compute(cycles),Copy beside compute(cycles)\n";
  for (const LaunchProfile& launch : launches)
    for (const CoreProfile& core : launch.cores) {
      const CoreUse use = use_of(core);
      char us[32];
      std::snprintf(us, sizeof us, "%.3f", static_cast<double>(use.cycles) / launch.mhz);
      out << csv_field(launch.name) << ',' << core.name << ',' << use.cycles << ',' << us;
      for (const PipeUse& pipe : use.pipes)
        out << ',' << pipe.busy << ',' << pipe.wait << ',' << pipe.overlap;
      out << ',' << use.copy << ',' << use.compute << ',' << use.both << '\n';
    }
}

}  // namespace atc::profile
