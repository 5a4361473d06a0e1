#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "atc/ir/attribute.h"
#include "atc/ir/type.h"
#include "om/proto/ge.pb.h"

// Includes generated code: for the .cc files that build ge.proto messages only.

namespace atc::om {

using AttrMap = google::protobuf::Map<std::string, ge::proto::AttrDef>;

void set_int(AttrMap& attrs, std::string_view name, std::int64_t value);
void set_string(AttrMap& attrs, std::string_view name, std::string_view value);
void set_bool(AttrMap& attrs, std::string_view name, bool value);
void set_ints(AttrMap& attrs, std::string_view name, const std::vector<std::int64_t>& values);
void set_strings(AttrMap& attrs, std::string_view name, const std::vector<std::string>& values);

/// An attribute of an IR node. Tensors are written inline up to kMaxInlineBytes, subgraphs as .air text.
ge::proto::AttrDef to_attr(const ir::Attribute& attribute);

inline constexpr std::size_t kMaxInlineBytes = 1 << 20;

/// A descriptor of a tensor: dtype, storage shape, layout, size where it is known, and the logical shape
/// as origin_shape where storage differs. A dim that is open is -1, an open rank the one dim -2.
/// `layout` replaces the name of an ND tensor's format when not empty. `bytes` is what the tensor takes in
/// storage, for packed weights, whose type alone does not tell it; -1: as the type says.
void fill_desc(const ir::TensorType& type, std::string_view layout, std::int64_t bytes,
               ge::proto::TensorDescriptor& out);

/// Descriptor and data of a host tensor; data beyond kMaxInlineBytes is left out and the descriptor
/// marked with the attribute data_omitted.
void fill_tensor(const Tensor& tensor, ge::proto::TensorDef& out);
void fill_data(const Tensor& tensor, ge::proto::TensorDef& out);

}  // namespace atc::om
