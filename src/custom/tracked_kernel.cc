#include "custom/tracked_kernel.h"

#include "custom/crash.h"

namespace atc::custom {
namespace {

AtcKernel g_kernel = nullptr;

void run_tracked(AtcBlock* block, const AtcCoreApi* api, void* const* args) {
  use_signal_stack();
  const RunningBlock running(*block);
  g_kernel(block, api, args);
}

}  // namespace

AtcKernel tracked(AtcKernel kernel) {
  g_kernel = kernel;
  return run_tracked;
}

}  // namespace atc::custom
