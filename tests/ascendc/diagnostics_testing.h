#pragma once

#include <filesystem>

#include "ascendc/harness.h"
#include "kernel_operator.h"

// What tests of findings share: they write kernels as users do, without a namespace.
using namespace AscendC;

// Names are read from the test's file; a build may name it from its own folder.
inline const bool in_build_folder = (std::filesystem::current_path(ATC_BIN_DIR "/.."), true);

using atc::ascendc::Diagnostic;
using atc::ascendc::Outcome;
using atc::ascendc::testing::find;
using atc::ascendc::testing::launcher;
using ::testing::HasSubstr;

using Vecin = TQue<TPosition::VECIN, 1>;
using Vecout = TQue<TPosition::VECOUT, 1>;
using Scratch = TBuf<TPosition::VECCALC>;

inline GlobalTensor<float> global(void* p) {
  GlobalTensor<float> g;
  g.SetGlobalBuffer((__gm__ float*)p);
  return g;
}

inline int line = 0;  // of the statement after MARK
#define MARK line = __LINE__ + 1

/// The finding of `rule` is at the marked line of the file that asks.
inline void expect_at(const Outcome& o, const char* rule, const char* containing, bool error = true,
                      const char* file = __builtin_FILE()) {
  const Diagnostic d = find(o, rule, containing);
  EXPECT_EQ(d.line, line) << to_string(d);
  EXPECT_EQ(d.error, error);
  EXPECT_THAT(d.file, HasSubstr(std::filesystem::path(file).filename().string()));
}
