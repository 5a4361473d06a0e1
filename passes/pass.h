#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "atc/base/status.h"
#include "atc/ir/graph.h"
#include "passes/node_precision.h"
#include "passes/switches.h"
#include "soc/chip.h"

namespace atc::passes {

/// Data types of the compiled network, as --precision_mode_v2 and --precision_mode choose them.
enum class Precision {
  Fp16,             ///< fp16, force_fp16: fp16 inside, fp32 at the edges and where fp16 breaks
  Origin,           ///< origin, must_keep_origin_dtype: the model's own types
  Fp32,             ///< cube_fp16in_fp32out, force_fp32
  AllowFp32ToFp16,  ///< allow_fp32_to_fp16: fp16 only where an operator has no fp32
  MixedFloat16,     ///< mixed_float16, allow_mix_precision
  MixedBfloat16,    ///< mixed_bfloat16, allow_mix_precision_bf16
  AllowFp32ToBf16,  ///< allow_fp32_to_bf16: bf16 only where an operator has no fp32
};

/// What the passes need of the compilation's options.
struct PassOptions {
  const soc::Chip* chip = nullptr;
  Precision precision = Precision::Fp16;
  Switches switches;
  NodePrecisions node_precisions;  ///< of single nodes, beyond the mode
};

/// The two groups of fusion_result.json: fusions in the graph, and fusions into one vector or cube task.
enum class FusionKind { Graph, Ub };

/// How often a fusion's pattern was found, and how often it changed the graph.
struct FusionCount {
  int match_times = 0;
  int effect_times = 0;
};

/// Counts by the fusion's ATC name. Those that never matched have no entry.
class FusionCounts {
 public:
  using Map = std::map<std::string, FusionCount, std::less<>>;
  void matched(FusionKind kind, std::string_view name) { ++entry(kind, name).match_times; }
  void effected(FusionKind kind, std::string_view name) { ++entry(kind, name).effect_times; }
  const Map& graph_fusion() const { return graph_; }
  const Map& ub_fusion() const { return ub_; }

 private:
  FusionCount& entry(FusionKind kind, std::string_view name) {
    return (kind == FusionKind::Graph ? graph_ : ub_)[std::string(name)];
  }
  Map graph_;
  Map ub_;
};

/// A place where a fusion's pattern was found, all but one condition of it.
struct NearMiss {
  std::string fusion;                ///< ATC's name of the fusion, or ours
  std::string node, op_type;         ///< where the pattern ends
  std::vector<std::string> sources;  ///< ONNX nodes of that node
  std::string reason;                ///< which condition failed
};

/// Where the compiler departed from the precision mode by itself.
struct PrecisionChange {
  enum class Kind {
    KeptF32,  ///< a value stays fp32 in a narrow mode
    Clipped,  ///< elements of a constant beyond the narrow type's range were clipped
    Asked,    ///< an option names the node
    Faster,   ///< an option asks for the faster form of an operator
  };
  Kind kind = Kind::KeptF32;
  std::string value;                 ///< name of the value or constant
  std::string op_type;               ///< of the node that makes it; of the reader of a constant
  std::vector<std::string> sources;  ///< ONNX nodes of that node
  std::string reason;
};

/// What the precision pass did.
struct PrecisionRecord {
  std::vector<PrecisionChange> changes;  ///< in graph order
  int narrowed_values = 0;               ///< values that are fp16 (bf16) instead of fp32
  int narrowed_constants = 0;
  int casts = 0;  ///< inserted
};

struct Pass;
struct CustomTakeover;

/// Passed through all passes of one compilation.
struct PassContext {
  PassOptions options;
  FusionCounts fusions;
  PrecisionRecord precision;
  std::vector<NearMiss> near_misses;
  const Pass* current = nullptr;     ///< the pass that runs, set by the pass manager
  CustomTakeover* custom = nullptr;  ///< operators that the user gave (custom_nodes.h); null: none

  /// Is this fusion of the running pass (one of its Pass::parts) switched on?
  bool allows(std::string_view part) const;
  /// For the report: `fusion` would have taken what ends in `node`, but for `reason` ("the softmax is not
  /// over the last axis"). A pass calls it where the pattern that its users know was all there otherwise. The
  /// same thing said twice counts once.
  void near_miss(std::string_view fusion, const ir::Node& node, std::string_view reason);

 private:
  using MissKey = std::tuple<std::string, std::string, std::vector<std::string>>;  // fusion, node, sources
  std::map<MissKey, std::size_t> miss_at_;                                         // in near_misses
};

/// One transformation of the graph. The pass manager verifies, times, counts and dumps; a pass does not.
struct Pass {
  std::string_view name;           ///< ours, kebab-case: "constant-folding"
  std::string_view atc_name = {};  ///< the name that users know from switch files; may be empty
  std::string_view summary = {};   ///< one line for --list=passes
  /// Returns how many changes were made; 0 leaves the graph as it was.
  StatusOr<int> (*run)(ir::Graph&, PassContext&) = nullptr;
  /// Results are right without it too: switch files may turn it off. The pipeline says so.
  bool optional = false;
  /// It runs at --oo_level=O1 too: it writes operators in forms that have kernels, and fuses nothing.
  bool basic = false;
  FusionKind kind = FusionKind::Graph;  ///< which section of a switch file it belongs to
  /// Neighbours in the pipeline that have it run again, in their order, until none of them changes the graph.
  bool repeated = false;
  /// ATC's names of single fusions in it that switch files know, beside atc_name; separated by blanks.
  std::string_view parts = {};
};

}  // namespace atc::passes
