#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "aicore/core.h"
#include "custom/manifest.h"
#include "custom/wire.h"

namespace atc::custom {

/// One argument of a kernel: a stretch of Global Memory at the same address in tool and child.
struct LaunchArg {
  std::string name;           ///< of the operator's input or output; "workspace"
  std::uint64_t address = 0;  ///< 0: absent
  std::int64_t bytes = 0;
  bool output = false;
};

/// One run of a kernel over all its blocks.
struct Launch {
  std::uint32_t library = 0;  ///< of those that the child holds
  std::uint32_t op = 0;
  std::uint32_t combination = 0;
  Tiling tiling;
  std::vector<LaunchArg> args;  ///< inputs, outputs, workspace
  std::string soc_version;
  bool timing = false;
  bool trace = false;   ///< with timing: every instruction
  bool checks = false;  ///< diagnostics for what a kernel does wrong, beyond accesses outside of its memory
  bool quiet = false;   ///< what the kernel prints is dropped: a run that only measures
};

/// One instruction of a traced run.
struct LaunchEvent {
  std::uint8_t pipe = 0;   ///< aicore::Pipe
  std::uint32_t name = 0;  ///< index into LaunchStats::event_names
  std::int64_t start = 0, end = 0, bytes = 0;
};

/// What one block did on its core in a traced run.
struct LaunchCore {
  std::string name;  ///< "core0.veccore0"
  std::int64_t begin = 0, cycles = 0;
  std::vector<LaunchEvent> events;
};

/// What a run took; zeros without timing.
struct LaunchStats {
  std::int64_t cycles = 0, gm_read = 0, gm_written = 0, instructions = 0;
  std::vector<std::int64_t> busy;  ///< cycles of each aicore::Pipe
  std::vector<std::string> event_names;
  std::vector<LaunchCore> cores;  ///< of a traced run
};

template <class A>
void io(A& a, LaunchArg& v) {
  a(v.name), a(v.address), a(v.bytes), a(v.output);
}
template <class A>
void io(A& a, Launch& v) {
  a(v.library), a(v.op), a(v.combination), io(a, v.tiling), a(v.args), a(v.soc_version), a(v.timing),
      a(v.trace), a(v.checks), a(v.quiet);
}
template <class A>
void io(A& a, LaunchEvent& v) {
  a(v.pipe), a(v.name), a(v.start), a(v.end), a(v.bytes);
}
template <class A>
void io(A& a, LaunchCore& v) {
  a(v.name), a(v.begin), a(v.cycles), a(v.events);
}
template <class A>
void io(A& a, LaunchStats& v) {
  a(v.cycles), a(v.gm_read), a(v.gm_written), a(v.instructions), a(v.busy), a(v.event_names), a(v.cores);
}

}  // namespace atc::custom
