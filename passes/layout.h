#pragma once

#include "passes/pass.h"

namespace atc::passes {

/// Gives every value the storage format that FormatChoice found for the whole graph (format_choice.h) and
/// inserts conversions (atc.TransData):
///
///     x: ND -> atc.Conv -> atc.Fused -> atc.Conv -> y: ND
///  =>  x -> TransData -> atc.Conv -> NC1HWC0 -> atc.Fused -> NC1HWC0 -> atc.Conv -> y: ND
///
/// Convolutions and windows read NC1HWC0 and store either format; vector programs, concatenations, splits and
/// resizes carry NC1HWC0 on where their channels keep whole C0 blocks; everything else is ND. Inputs and
/// outputs of the model are ND. Constants are converted here; a value is converted once for each format. A
/// graph that has formats is left alone. A program behind or before a conversion takes it over where its
/// channels are whole blocks or a single one:
///
///     x: ND -> atc.Fused{Cast} -> TransData -> atc.Conv     =>     x -> atc.Fused{Cast}: NC1HWC0 -> atc.Conv
///
/// Convolutions of up to four channels read NC1HWC0_C04, which programs and epilogues in front of them store.
/// Runs before pack-weights, which packs for the input's format.
Pass layout_pass();  ///< "layout"; changes: TransData nodes and converted constants

}  // namespace atc::passes
