#include "profile/trace_json.h"

#include <cstdio>
#include <map>
#include <ostream>

namespace atc::profile {
namespace {

using aicore::Pipe;
using aicore::TraceEvent;

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::int64_t events_of(std::span<const LaunchProfile> launches) {
  std::int64_t events = 0;
  for (const LaunchProfile& launch : launches)
    for (const CoreProfile& core : launch.cores)
      for (const CoreProfile::Placed& block : core.blocks)
        events += static_cast<std::int64_t>(block.trace->events.size());
  return events;
}

class Writer {
 public:
  Writer(std::ostream& out, bool all_cores) : out_(out), all_cores_(all_cores) {}

  void begin() {
    out_ << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
    process(0, "tasks");
  }
  void end() { out_ << "\n]}\n"; }

  void add(const LaunchProfile& launch) {
    event(0, 0, launch.name, launch.start_us, launch.us,
          "\"type\":" + quoted(launch.type) + ",\"blocks\":" + std::to_string(launch.blocks));
    for (std::size_t c = 0; c < launch.cores.size(); ++c) {
      const CoreProfile& core = launch.cores[c];
      int alike = 1;
      if (!all_cores_) {
        if (shown_before(launch, c)) continue;
        for (std::size_t other = c + 1; other < launch.cores.size(); ++other)
          alike += same(core, launch.cores[other]) ? 1 : 0;
      }
      add(launch, core, alike);
    }
  }

 private:
  static bool same(const CoreProfile& a, const CoreProfile& b) {
    if (a.blocks.size() != b.blocks.size()) return false;
    for (std::size_t i = 0; i < a.blocks.size(); ++i)
      if (a.blocks[i].trace != b.blocks[i].trace || a.blocks[i].begin != b.blocks[i].begin) return false;
    return true;
  }

  static bool shown_before(const LaunchProfile& launch, std::size_t core) {
    for (std::size_t c = 0; c < core; ++c)
      if (same(launch.cores[c], launch.cores[core])) return true;
    return false;
  }

  void add(const LaunchProfile& launch, const CoreProfile& core, int alike) {
    const int pid = process_of(core.name);
    const double begin = launch.start_us + launch.launch_us;
    const std::string cores = alike > 1 ? ",\"cores\":" + std::to_string(alike) : "";
    for (const CoreProfile::Placed& block : core.blocks)
      for (const TraceEvent& e : block.trace->events)
        event(pid, static_cast<int>(e.pipe), e.name,
              begin + static_cast<double>(block.begin + e.start) / launch.mhz,
              static_cast<double>(e.end - e.start) / launch.mhz,
              "\"bytes\":" + std::to_string(e.bytes) + cores);
  }

  int process_of(const std::string& core) {
    const auto [entry, fresh] = processes_.try_emplace(core, static_cast<int>(processes_.size()) + 1);
    if (fresh) {
      process(entry->second, core);
      for (int p = 0; p < aicore::kPipeCount; ++p)
        metadata("thread_name", entry->second, p, aicore::name(static_cast<Pipe>(p)));
    }
    return entry->second;
  }

  void process(int pid, std::string_view name) { metadata("process_name", pid, 0, name); }

  void metadata(const char* what, int pid, int tid, std::string_view name) {
    separate();
    out_ << "{\"name\":\"" << what << "\",\"ph\":\"M\",\"pid\":" << pid << ",\"tid\":" << tid
         << ",\"args\":{\"name\":" << quoted(name) << "}}";
  }

  void event(int pid, int tid, std::string_view name, double begin, double us, const std::string& args) {
    char times[96];
    std::snprintf(times, sizeof times, ",\"ts\":%.4f,\"dur\":%.4f", begin, us);
    separate();
    out_ << "{\"name\":" << quoted(name) << ",\"ph\":\"X\",\"pid\":" << pid << ",\"tid\":" << tid << times
         << ",\"args\":{" << args << "}}";
  }

  void separate() {
    out_ << (first_ ? "\n" : ",\n");
    first_ = false;
  }

  std::ostream& out_;
  bool all_cores_;
  bool first_ = true;
  std::map<std::string, int> processes_;
};

}  // namespace

void write_trace_json(std::ostream& out, std::span<const LaunchProfile> launches, std::int64_t most_events) {
  Writer writer(out, events_of(launches) <= most_events);
  writer.begin();
  for (const LaunchProfile& launch : launches) writer.add(launch);
  writer.end();
}

}  // namespace atc::profile
