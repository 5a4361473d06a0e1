#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "atc/base/tensor.h"
#include "atc/ir/type.h"

namespace atc::ir {

class Graph;

/// A value of a node's attribute. Graph attributes are subgraphs (If/Loop bodies, fused bodies);
/// they may use values of the enclosing graphs.
using Attribute =
    std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
                 std::vector<std::string>, Tensor, std::shared_ptr<Graph>, std::vector<Tensor>>;

/// Sorted by name, so that printing and hashing are stable.
class Attributes {
 public:
  using Map = std::map<std::string, Attribute, std::less<>>;

  bool has(std::string_view name) const { return map_.find(name) != map_.end(); }
  const Attribute* find(std::string_view name) const;
  void set(std::string name, Attribute value) { map_[std::move(name)] = std::move(value); }
  void erase(std::string_view name);

  /// Typed reads; the default when absent or of another type (the schema check has refused the latter).
  std::int64_t get_int(std::string_view name, std::int64_t fallback) const;
  float get_float(std::string_view name, float fallback) const;
  std::string get_string(std::string_view name, std::string_view fallback) const;
  std::vector<std::int64_t> get_ints(std::string_view name, std::vector<std::int64_t> fallback = {}) const;
  std::vector<float> get_floats(std::string_view name, std::vector<float> fallback = {}) const;
  const Tensor* get_tensor(std::string_view name) const;
  std::shared_ptr<Graph> get_graph(std::string_view name) const;

  const Map& map() const { return map_; }
  Map& map() { return map_; }

 private:
  Map map_;
};

}  // namespace atc::ir
