#include "custom/raw_manifest.h"

#include <set>
#include <string>

namespace atc::custom {
namespace {

std::string text(const char* s) { return s == nullptr ? std::string() : std::string(s); }

/// Reads one operator; the first fault is kept.
class OpReader {
 public:
  OpReader(const AtcCustomOp& raw, std::string library) : raw_(raw), library_(std::move(library)) {}

  StatusOr<OpInfo> run() {
    OpInfo out;
    out.type = text(raw_.type);
    if (out.type.empty()) return fault("an operator has no type");
    out.domain = text(raw_.domain);
    out.combinations = raw_.combinations;
    if (out.combinations == 0) return fault("it lists no combination of element types");
    ATC_TRY(read_params(raw_.inputs, raw_.input_count, "input", out.inputs));
    ATC_TRY(read_params(raw_.outputs, raw_.output_count, "output", out.outputs));
    if (out.outputs.empty()) return fault("it has no output");
    ATC_TRY(read_attrs(out));
    ATC_TRY(read_texts(raw_.chips, raw_.chip_count, "chip", out.chips));
    ATC_TRY(read_texts(raw_.origins, raw_.origin_count, "origin", out.origins));
    if (raw_.infer_shape == nullptr) return fault("it has no infer_shape");
    if (raw_.tiling == nullptr) return fault("it has no tiling function");
    if (raw_.kernels == nullptr) return fault("it has no kernels");
    for (std::uint32_t c = 0; c < out.combinations; ++c)
      if (raw_.kernels[c] == nullptr) return fault("it has no kernel for combination " + std::to_string(c));
    if (raw_.kernel_type > ATC_KERNEL_MIX_VECTORCORE)
      return fault("kernel type " + std::to_string(raw_.kernel_type) + " does not exist");
    out.parses_attributes = raw_.parse != nullptr;
    return out;
  }

 private:
  Status fault(const std::string& what) const {
    const std::string type = text(raw_.type);
    return Status::error("E13030", "The library " + library_ + " cannot be used: " +
                                       (type.empty() ? what : "operator " + type + ": " + what));
  }

  Status read_params(const AtcCustomParam* params, std::uint32_t count, const char* what,
                     std::vector<ParamInfo>& out) const {
    if (count > 0 && params == nullptr) return fault(std::string("its list of ") + what + "s is null");
    std::set<std::string> names;
    for (std::uint32_t i = 0; i < count; ++i) {
      const AtcCustomParam& p = params[i];
      ParamInfo& info = out.emplace_back();
      info.name = text(p.name);
      const std::string who = std::string(what) + " " + std::to_string(i);
      if (info.name.empty()) return fault(who + " has no name");
      if (!names.insert(info.name).second)
        return fault("two " + std::string(what) + "s are called '" + info.name + "'");
      if (p.kind > ATC_PARAM_OPTIONAL)
        return fault(who + " '" + info.name +
                     "' is neither required nor optional; lists of tensors are not supported");
      info.optional = p.kind == ATC_PARAM_OPTIONAL;
      info.wants_data = p.wants_data != 0;
      if (p.dtypes == nullptr || p.formats == nullptr)
        return fault(who + " '" + info.name + "' has no dtypes or formats");
      for (std::uint32_t c = 0; c < raw_.combinations; ++c) {
        const auto dtype = dtype_from_acl(p.dtypes[c]);
        if (!dtype)
          return fault(who + " '" + info.name + "' has the element type " + std::to_string(p.dtypes[c]) +
                       " in combination " + std::to_string(c) + ", which is not supported");
        info.dtypes.push_back(*dtype);
        info.formats.push_back(p.formats[c]);
      }
    }
    return {};
  }

  Status read_attrs(OpInfo& out) const {
    if (raw_.attr_count > 0 && raw_.attrs == nullptr) return fault("its list of attributes is null");
    for (std::uint32_t i = 0; i < raw_.attr_count; ++i) {
      const AtcCustomAttr& raw = raw_.attrs[i].value;
      if (text(raw.name).empty()) return fault("attribute " + std::to_string(i) + " has no name");
      if (raw.kind >= kAttrKinds)
        return fault("attribute '" + text(raw.name) + "' has the kind " + std::to_string(raw.kind) +
                     ", which does not exist");
      out.attrs.push_back({copy_attr(raw), raw_.attrs[i].required != 0});
    }
    return {};
  }

  Status read_texts(const char* const* list, std::uint32_t count, const char* what,
                    std::vector<std::string>& out) const {
    if (count > 0 && list == nullptr) return fault(std::string("its list of ") + what + "s is null");
    for (std::uint32_t i = 0; i < count; ++i) {
      out.push_back(text(list[i]));
      if (out.back().empty()) return fault(std::string(what) + " " + std::to_string(i) + " is empty");
    }
    return {};
  }

  const AtcCustomOp& raw_;
  std::string library_;
};

}  // namespace

AttrValue copy_attr(const AtcCustomAttr& attr) {
  AttrValue out;
  out.name = text(attr.name);
  out.kind = static_cast<AttrKind>(attr.kind);
  out.i = attr.i;
  out.f = attr.f;
  out.s = text(attr.s);
  if (out.kind == AttrKind::Ints && attr.ints != nullptr) out.ints.assign(attr.ints, attr.ints + attr.count);
  if (out.kind == AttrKind::Floats && attr.floats != nullptr)
    out.floats.assign(attr.floats, attr.floats + attr.count);
  return out;
}

StatusOr<LibraryInfo> read_manifest(const AtcCustomOpLibrary& library, const std::string& name) {
  LibraryInfo out;
  if (library.op_count == 0 || library.ops == nullptr)
    return Status::error("E13030", "The library " + name + " cannot be used: it lists no operator");
  std::set<std::string> types;
  for (std::uint32_t i = 0; i < library.op_count; ++i) {
    ATC_ASSIGN(OpInfo op, OpReader(library.ops[i], name).run());
    if (!types.insert(op.type).second)
      return Status::error(
          "E13030", "The library " + name + " cannot be used: it lists operator " + op.type + " twice");
    out.ops.push_back(std::move(op));
  }
  return out;
}

}  // namespace atc::custom
