#include "custom/tracked_kernel.h"

#include "aicore/resume_hook.h"
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
  // A block that waited may go on upon a thread on which none has begun.
  aicore::set_resume_hook(use_signal_stack);
  return run_tracked;
}

}  // namespace atc::custom
