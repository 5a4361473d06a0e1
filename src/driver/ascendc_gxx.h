#pragma once

namespace atc::driver {

/// The ascendc-g++ program: g++ for files in Ascend C. Sources (.cpp, .cc, .cxx, .asc) are compiled with
/// their
/// <<<...>>> launches rewritten, our headers and, where a program is linked, our library; every other
/// argument goes to g++ as it is (to the compiler that CXX names, when that is set). Returns g++'s exit code,
/// 1 for a fault of its own.
int ascendc_gxx_main(int argc, char** argv);

}  // namespace atc::driver
