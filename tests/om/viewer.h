#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace atc::om::test {

/// What a model viewer makes of a .om file. Written from the viewer's rules (Netron, "DaVinci OM")
/// alone, independent of the reader and of generated code.
struct ViewedTensor {
  std::int64_t dtype = 0;
  std::vector<std::int64_t> shape;
  std::string data;  ///< of constants
};
struct ViewedNode {
  std::string name, type;
  std::vector<std::string> inputs;                ///< value names, "" for absent ones
  std::map<std::string, std::string> attributes;  ///< name -> kind: "i", "list", ...
};
struct ViewedModel {
  std::map<std::uint32_t, std::string_view> partitions;
  std::map<std::string, ViewedTensor> constants;
  std::vector<ViewedNode> nodes;
  std::map<std::string, ViewedTensor> values;
};

/// Throws std::runtime_error where the viewer refuses the file.
ViewedModel view(std::string_view file);

}  // namespace atc::om::test
