#include "om/info.h"

#include <cstdint>

#include "atc/base/strings.h"
#include "atc/base/tensor.h"
#include "om/container.h"
#include "om/inout_info.h"
#include "om/proto/ge.pb.h"
#include "om/proto_util.h"
#include "om/type_map.h"

namespace atc::om {
namespace {

using Attrs = google::protobuf::Map<std::string, ge::proto::AttrDef>;

constexpr char kStart[] = "============ Display Model Info start ============\n";
constexpr char kEnd[] = "============ Display Model Info end   ============\n";
constexpr int kOmInfoCount = 5;

std::string text_of(const Attrs& attrs, const char* name) {
  const auto at = attrs.find(name);
  return at == attrs.end() ? std::string() : printable(at->second.s());
}
std::string number_of(const Attrs& attrs, const char* name) {
  const auto at = attrs.find(name);
  return std::to_string(at == attrs.end() ? std::int64_t{-1} : at->second.i());
}

/// False, after a sentence that says so, when the file does not tell its sizes.
bool append_sizes(const Attrs& attrs, std::uint64_t modeldef_size, std::string& out) {
  const auto at = attrs.find("om_info_list");
  if (at == attrs.end()) {
    out +=
        "Display Model Info failed, attr \"om_info_list\" is not found in om, check the version is "
        "matched.\n";
    return false;
  }
  const auto& sizes = at->second.list().i();
  if (sizes.size() != kOmInfoCount) {
    out += "Display Model Info error, attr \"om_info_list\" has " + std::to_string(sizes.size()) +
           " numbers, 5 are expected.\n";
    return false;
  }
  const auto size = [&](int i) { return "[" + std::to_string(sizes[i]) + " B]"; };
  out += "om       info: modeldef_size[" + std::to_string(modeldef_size) + " B], weight_data_size" + size(0) +
         ", tbe_kernels_size" + size(1) + ", cust_aicpu_kernel_store_size" + size(2) + ", task_info_size" +
         size(3) + ", so_store_size" + size(4) + ".\n";
  return true;
}

void append_tensors(const char* title, const std::vector<InOutTensor>& tensors, std::string& out) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const InOutTensor& t = tensors[i];
    out += std::string(title) + "info: index[" + std::to_string(i) + "], name[" + printable(t.name) +
           "], dtype[" + runtime_type_name(t.dtype) + "], shape[" + to_string(t.dims) + "], format[" +
           runtime_format_name(t.format) + "], size[" + std::to_string(t.size) + " B].\n";
  }
}

}  // namespace

StatusOr<std::string> display_info(const Bytes& om_file) {
  ATC_ASSIGN(const Container container, open_container(om_file));
  const Bytes model_def = *container.payload(Section::ModelDef);
  ge::proto::ModelDef model;
  if (!parse(model, model_def.span())) return broken("section MODEL_DEF is not a valid message");
  InOutInfo tensors;
  if (const auto section = container.payload(Section::ModelInOutInfo)) {
    ATC_ASSIGN(tensors, decode_inout_info(section->span()));
  }

  const Attrs& attrs = model.attr();
  std::string out = kStart;
  out += "Original Atc command line: " + text_of(attrs, "atc_cmdline") + "\n";
  out += "system   info: atc_version[" + text_of(attrs, "atc_version") + "], soc_version[" +
         text_of(attrs, "soc_version") + "], framework_type[" + text_of(attrs, "framework_type") + "].\n";
  out += "resource info: memory_size[" + number_of(attrs, "memory_size") + " B], weight_size[" +
         number_of(attrs, "weight_size") + " B], stream_num[" + number_of(attrs, "stream_num") +
         "], event_num[" + number_of(attrs, "event_num") + "].\n";
  if (append_sizes(attrs, model_def.size(), out)) {
    append_tensors("input    ", tensors.inputs, out);
    append_tensors("output   ", tensors.outputs, out);
  }
  return out + kEnd;
}

}  // namespace atc::om
