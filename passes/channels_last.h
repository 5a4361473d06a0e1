#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// What computes in blocks of channels stores its output channels last where a Transpose would make it so:
///
///     x -> atc.Conv -> [1,96,56,56] -> Transpose [0,2,3,1] -> y
///  => x -> atc.Conv {channels_last=[1,56,56,96]} -> y
///
/// Convolutions, windows, vector programs on blocks, and conversions from blocks. Any chain of views that
/// ends in that order will do: Reshape [1,96,3136] -> Transpose [0,2,1]. Runs behind layout, for which the
/// Transpose reads rows. Does not fire where something else reads the output or a value of the chain.
Pass channels_last_pass();  ///< "channels-last"; changes: outputs stored so

}  // namespace atc::passes
