#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "atc/base/status.h"
#include "passes/node_precision.h"

/// The files by which users choose the precision of single operators.
namespace atc::driver {

/// What one entry of a file or option asks for, by node name or by operator type.
struct PrecisionEntry {
  bool by_type = false;
  std::string
      name;  ///< of a node, perhaps of one that fusion makes ("Mul_105/Gelu"); or a type of ONNX or ATC
  passes::NodePrecision asked;
  std::string mode;   ///< of an implementation: "high_performance"; "" of other entries
  bool named = true;  ///< by the user: it is worth a warning when the model has no such thing

  /// Of --customize_dtypes, for what only the model can tell to be wrong.
  std::string file;   ///< that the entry stands in
  std::string place;  ///< "line 3, 'conv1::InputDtype:int8'"
  DType narrow = DType::F16;
};

/// --keep_dtype: a node's name or "OpType::Type" a line; '#' starts a comment. E10001.
StatusOr<std::vector<PrecisionEntry>> parse_keep_dtype(std::string_view text, const std::string& file);

/// --customize_dtypes: "Name::InputDtype:float16,float32,OutputDtype:float16" a line, with one colon or two,
/// or "OpType::Type:InputDtype:..."; either list may be left out. Integer types in a list are the model's own
/// (resolve_precisions checks them). `narrow` is the 16-bit type of the precision mode. E10001, also for a
/// type that no storage can have.
StatusOr<std::vector<PrecisionEntry>> parse_customize_dtypes(std::string_view text, const std::string& file,
                                                             DType narrow);

/// --op_precision_mode: sections [ByOpType] and [ByNodeName] with lines "name = mode"; '#' and ';' start
/// comments. E10001.
StatusOr<std::vector<PrecisionEntry>> parse_op_precision_mode(std::string_view text, const std::string& file);

/// --modify_mixlist: {"black-list": {"to-add": [..], "to-remove": [..]}, "white-list": {..},
/// "gray-list": {..}}. E10032 no JSON, E10001 anything else, also a type added to two lists.
StatusOr<std::vector<PrecisionEntry>> parse_modify_mixlist(std::string_view text, const std::string& file);

/// --op_select_implmode with the types of --optypelist_for_implmode ("Op1,Op2"); without types, all that have
/// such an implementation. E10001 for an empty entry.
StatusOr<std::vector<PrecisionEntry>> parse_implementation_mode(std::string_view mode,
                                                                std::string_view types);

}  // namespace atc::driver
