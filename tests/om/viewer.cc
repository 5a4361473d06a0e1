#include "viewer.h"

#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>

#include "wire.h"

namespace atc::om::test {
namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}

std::uint64_t number(std::string_view file, std::size_t at, std::size_t bytes) {
  require(at + bytes <= file.size(), "the file ends early");
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(file[at + i]);
  return value;
}

struct Entry {
  std::uint32_t type;
  std::uint64_t offset, size;
};

/// One reading of the partition table; nullopt where the viewer gives the reading up.
std::optional<std::vector<Entry>> read_table(std::string_view file, bool wide) {
  constexpr std::size_t kStart = 256;
  const auto count = static_cast<std::size_t>(number(file, kStart, 4));
  const std::size_t head = wide ? 8 : 4, step = wide ? 24 : 12;
  if (count > 64 || kStart + head + count * step > file.size()) return std::nullopt;
  std::vector<Entry> table;
  std::set<std::uint32_t> types;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = kStart + head + i * step;
    Entry e{};
    e.type = static_cast<std::uint32_t>(number(file, at, 4));
    e.offset = wide ? number(file, at + 8, 8) : number(file, at + 4, 4);
    e.size = wide ? number(file, at + 16, 8) : number(file, at + 8, 4);
    if (e.type >= 32 || !types.insert(e.type).second || e.offset + e.size >= file.size()) return std::nullopt;
    e.offset += kStart + head + count * step;
    table.push_back(e);
  }
  return table;
}

class Viewer {
 public:
  explicit Viewer(std::string_view file) {
    require(file.size() >= 256 && file.substr(0, 4) == "IMOD", "not an IMOD file");
    auto table = read_table(file, false);
    if (!table) table = read_table(file, true);
    require(table.has_value(), "no reading of the partition table holds");
    for (const Entry& e : *table) {
      require(e.type <= 12 || (e.type >= 20 && e.type <= 24), "unsupported partition type");
      require(e.type != 5, "type 5 would be read as a table of devices");
      require(e.offset + e.size <= file.size(), "a partition leaves the file");
      model_.partitions[e.type] = file.substr(e.offset, e.size);
    }
    require(model_.partitions.count(0) == 1, "no model definition");
    const Wire model_def(model_.partitions[0]);
    const auto graphs = model_def.all(7);
    require(!graphs.empty(), "no graph");
    read_graph(Wire(graphs[0]));
  }
  ViewedModel take() { return std::move(model_); }

 private:
  static std::map<std::string, std::string_view> entries(const Wire& message, std::uint32_t field) {
    std::map<std::string, std::string_view> out;
    for (const std::string_view bytes : message.all(field)) {
      const Wire entry(bytes);
      const auto value = entry.all(2);
      out[entry.text(1)] = value.empty() ? std::string_view() : value.back();
    }
    return out;
  }

  static std::optional<ViewedTensor> tensor_type(const Wire& desc) {
    const std::int64_t dtype = desc.integer(2);
    require(dtype >= 0 && dtype <= 31, "dtype " + std::to_string(dtype) + " is not known");
    if (!desc.has(3)) return std::nullopt;
    return ViewedTensor{dtype, Wire(desc.all(3).back()).integers(1), {}};
  }

  static bool equal(const ViewedTensor& a, const ViewedTensor& b) {
    if (a.dtype != b.dtype) return false;
    if (a.shape.size() == b.shape.size()) return a.shape == b.shape;
    const auto count = [](const ViewedTensor& t) {
      return std::accumulate(t.shape.begin(), t.shape.end(), std::int64_t{1}, std::multiplies<>());
    };
    return count(a) == count(b);
  }

  void use_value(const std::string& name, const std::optional<ViewedTensor>& type) {
    const auto [at, fresh] = values_.emplace(name, type);
    if (fresh || !type) return;
    require(at->second && equal(*at->second, *type), "duplicate value '" + name + "'");
  }

  static std::string attribute_kind(const Wire& attr) {
    static const std::map<std::uint32_t, std::string> kKinds = {
        {1, "list"}, {2, "s"},     {3, "i"},  {4, "f"},  {5, "b"},
        {7, "bt"},   {10, "func"}, {12, "t"}, {13, "g"}, {14, "list_list_int"},
        {15, "dt"}};
    require(attr.fields().size() <= 1, "an attribute of two kinds");
    if (attr.fields().empty()) return "none";
    const auto at = kKinds.find(attr.fields()[0].number);
    require(at != kKinds.end(), "unsupported attribute kind");
    if (at->second == "t") tensor_type(Wire(Wire(attr.all(12).back()).all(1).back()));
    return at->second;
  }

  void read_const(const std::string& name, const Wire& attr) {
    require(attr.has(12), "the value of a Const is not a tensor");
    const Wire tensor(attr.all(12).back());
    const Wire desc(tensor.all(1).back());
    auto type = tensor_type(desc);
    require(type.has_value(), "a Const without shape");
    type->data = tensor.text(2);
    if (type->data.empty() && model_.partitions.count(1) == 1) {
      const auto attrs = entries(desc, 5);
      const auto merged = attrs.find("merged_offset");
      const auto offset = static_cast<std::size_t>(merged != attrs.end() ? Wire(merged->second).integer(3)
                                                                         : desc.integer(18));
      const auto size = static_cast<std::size_t>(desc.integer(11));
      const std::string_view weights = model_.partitions[1];
      require(offset <= weights.size() && size <= weights.size() - offset, "weights out of range");
      type->data = std::string(weights.substr(offset, size));
    }
    require(model_.constants.emplace(name, *type).second, "two constants of one name");
  }

  void read_graph(const Wire& graph) {
    std::vector<Wire> others;
    for (const std::string_view bytes : graph.all(6)) {
      const Wire op(bytes);
      const auto attrs = entries(op, 10);
      if (op.text(2) == "Const" && attrs.count("value") == 1) {
        read_const(op.text(1), Wire(attrs.at("value")));
      } else {
        others.push_back(op);
      }
    }
    std::set<std::string> names;
    for (const Wire& op : others) {
      ViewedNode node;
      node.name = op.text(1);
      node.type = op.text(2);
      require(names.insert(node.name).second, "two operations of one name: " + node.name);
      for (const std::string_view input : op.all(5)) node.inputs.emplace_back(input);
      const auto input_descs = op.all(33);
      require(input_descs.size() == node.inputs.size(), "input and input_desc differ in length");
      for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].empty()) continue;
        const auto colon = node.inputs[i].rfind(':');
        require(colon != std::string::npos && node.inputs[i].substr(colon) != ":-1", "a control edge");
        const auto type = tensor_type(Wire(input_descs[i]));
        use_value(node.inputs[i], type);
        if (const auto c = model_.constants.find(node.inputs[i].substr(0, colon));
            c != model_.constants.end())
          require(type && equal(*type, c->second), "a constant and its consumer disagree");
      }
      const auto outputs = op.all(34);
      for (std::size_t i = 0; i < outputs.size(); ++i)
        use_value(node.name + ":" + std::to_string(i), tensor_type(Wire(outputs[i])));
      for (const auto& [key, bytes] : entries(op, 10)) node.attributes[key] = attribute_kind(Wire(bytes));
      model_.nodes.push_back(std::move(node));
    }
    for (const auto& [name, type] : values_)
      if (type) model_.values[name] = *type;
  }

  ViewedModel model_;
  std::map<std::string, std::optional<ViewedTensor>> values_;
};

}  // namespace

ViewedModel view(std::string_view file) { return Viewer(file).take(); }

}  // namespace atc::om::test
