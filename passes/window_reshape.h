#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// A Squeeze (or Reshape) that drops a spatial axis of length 1 behind a convolution or pool goes down, so
/// that what follows is beside it, in its blocks of channels:
///
///     y = Relu(Squeeze(Conv(x)))        ->  y = Squeeze(Relu(Conv(x)))
///     y = MaxPool1d(Squeeze(Conv(x)))   ->  y = Squeeze(MaxPool2d(Conv(x)))     Conv, AveragePool alike
///
/// Elementwise operators follow whose other operands are single values or constants by channel; windows get
/// length 1 along the axis. Fires where nobody else reads what is squeezed, before or behind. Others go up to
/// meet their inverse: reshape-algebra.
Pass window_reshape_pass();  ///< "window-reshape"; changes: operators that the Squeeze passed

}  // namespace atc::passes
