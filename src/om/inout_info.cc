#include "om/inout_info.h"

#include "om/container.h"
#include "om/little_endian.h"
#include "om/type_map.h"

namespace atc::om {
namespace {

// Block types.
constexpr std::uint32_t kInputs = 0;
constexpr std::uint32_t kOutputs = 1;
constexpr std::uint32_t kDataNameOrder = 6;

constexpr std::size_t kTensorHeadBytes = 8 + 4 + 4 + 4 * 4;

std::uint32_t length32(std::size_t n) { return static_cast<std::uint32_t>(n); }

void append_block(std::string& out, std::uint32_t type, const std::string& value) {
  put(out, type);
  put(out, length32(value.size()));
  out += value;
}

std::string encode_ports(const plan::Plan& plan, const std::vector<plan::PlanPort>& ports,
                         std::string_view input_format) {
  std::string out;
  put(out, length32(ports.size()));
  for (const plan::PlanPort& port : ports) {
    const plan::PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(port.tensor)];
    const auto dims_bytes = length32(tensor.shape.size() * sizeof(std::int64_t));
    put(out, tensor.bytes);
    put(out, runtime_format(tensor.format, axes_name(input_format, tensor.shape.size())));
    put(out, runtime_type(tensor.dtype));
    put(out, length32(port.name.size()));
    put(out, dims_bytes);
    put(out, dims_bytes);
    put(out, std::uint32_t{0});  // no shape ranges: every plan is static
    out += port.name;
    for (int copy = 0; copy < 2; ++copy)
      for (const std::int64_t dim : tensor.shape) put(out, dim);
  }
  return out;
}

std::string encode_names(const std::vector<plan::PlanPort>& ports) {
  std::string out;
  put(out, length32(ports.size()));
  for (const plan::PlanPort& port : ports) put(out, length32(port.name.size()));
  for (const plan::PlanPort& port : ports) out += port.name;
  return out;
}

StatusOr<std::vector<InOutTensor>> decode_tensors(std::span<const std::byte> block) {
  ByteReader reader(block);
  const auto count = reader.read<std::uint32_t>();
  if (!reader.ok() || count > reader.left() / kTensorHeadBytes)
    return broken("a block of MODEL_INOUT_INFO is too short for its tensors");
  std::vector<InOutTensor> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    InOutTensor tensor;
    tensor.size = reader.read<std::uint64_t>();
    tensor.format = reader.read<std::int32_t>();
    tensor.dtype = reader.read<std::int32_t>();
    const auto name_bytes = reader.read<std::uint32_t>();
    const auto dims_bytes = reader.read<std::uint32_t>();
    const auto dims2_bytes = reader.read<std::uint32_t>();
    const auto range_bytes = reader.read<std::uint32_t>();
    tensor.name = reader.text(name_bytes);
    ByteReader dims(reader.take(dims_bytes));
    while (dims.left() >= sizeof(std::int64_t)) tensor.dims.push_back(dims.read<std::int64_t>());
    reader.take(dims2_bytes);
    reader.take(range_bytes);
    if (!reader.ok() || dims.left() != 0)
      return broken("tensor " + std::to_string(i) + " of MODEL_INOUT_INFO has lengths that do not fit");
    out.push_back(std::move(tensor));
  }
  return out;
}

}  // namespace

std::string encode_inout_info(const plan::Plan& plan) {
  const auto format = plan.info.find("input_format");
  std::string out;
  if (!plan.inputs.empty()) {
    append_block(out, kInputs,
                 encode_ports(plan, plan.inputs, format == plan.info.end() ? "" : format->second));
  }
  if (!plan.outputs.empty()) append_block(out, kOutputs, encode_ports(plan, plan.outputs, ""));
  if (!plan.inputs.empty()) append_block(out, kDataNameOrder, encode_names(plan.inputs));
  return out;
}

StatusOr<InOutInfo> decode_inout_info(std::span<const std::byte> section) {
  InOutInfo out;
  ByteReader reader(section);
  while (reader.left() > 0) {
    const auto type = reader.read<std::uint32_t>();
    const auto length = reader.read<std::uint32_t>();
    const auto value = reader.take(length);
    if (!reader.ok()) return broken("a block of MODEL_INOUT_INFO reaches beyond the section");
    if (type != kInputs && type != kOutputs) continue;
    ATC_ASSIGN(auto tensors, decode_tensors(value));
    (type == kInputs ? out.inputs : out.outputs) = std::move(tensors);
  }
  return out;
}

}  // namespace atc::om
