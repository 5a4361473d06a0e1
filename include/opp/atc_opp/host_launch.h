#pragma once

// Launches of kernels from a program: what ascendc-g++ makes of <<<...>>>, and ICPU_RUN_KF.
#include <cstdint>
#include <tuple>
#include <utility>

#include "ascendc/entry.h"
#include "atc/host_launch.h"

namespace atc_opp {

inline std::uint64_t& host_tiling_key() {
  static std::uint64_t key = 0;
  return key;
}
inline int& host_kernel_type() {
  static int type = -1;
  return type;
}

/// Runs kernel(arguments...) on `blocks` blocks to its end; launches of a stream are in order by that.
template <auto kernel>
class KernelLaunch {
 public:
  template <class L2, class Stream>
  KernelLaunch(const char* name, std::uint32_t blocks, L2, Stream) : name_(name), blocks_(blocks) {}
  template <class... Arguments>
  int operator()(Arguments... arguments) const {
    void* slots[sizeof...(Arguments) + 1] = {};
    ::AscendC::detail::pack(kernel, slots, arguments...);
    const AtcHostLaunch launch = {&::AscendC::detail::entry<kernel>,
                                  name_,
                                  blocks_,
                                  host_kernel_type(),
                                  host_tiling_key(),
                                  sizeof...(Arguments),
                                  slots};
    const int errors = atc_host_launch(&launch);
    ::AscendC::detail::leave();  // a kernel that failed did not
    return errors;
  }

 private:
  const char* name_;
  std::uint32_t blocks_;
};

}  // namespace atc_opp

#define ATC_UNWRAP_(...) __VA_ARGS__
#define ATC_KERNEL_LAUNCH(kernel, blocks, l2, stream) \
  ::atc_opp::KernelLaunch<&ATC_UNWRAP_ kernel>(#kernel, static_cast<std::uint32_t> blocks, l2, stream)
#define ACLRT_LAUNCH_KERNEL(kernel) ::atc_opp::AclLaunch<&kernel>(#kernel)

namespace atc_opp {

/// ACLRT_LAUNCH_KERNEL(kernel)(blocks, stream, arguments...).
template <auto kernel>
class AclLaunch {
 public:
  explicit AclLaunch(const char* name) : name_(name) {}
  template <class Stream, class... Arguments>
  std::uint32_t operator()(std::uint32_t blocks, Stream stream, Arguments... arguments) const {
    return static_cast<std::uint32_t>(KernelLaunch<kernel>(name_, blocks, nullptr, stream)(arguments...));
  }

 private:
  const char* name_;
};

}  // namespace atc_opp
