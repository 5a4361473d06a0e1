#pragma once

namespace atc::aicore {

/// Called on a thread whenever a block of a group begins or goes on upon it; null: nothing is called.
void set_resume_hook(void (*hook)());

}  // namespace atc::aicore
