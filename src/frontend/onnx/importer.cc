#include "frontend/onnx/importer.h"

#include <sys/mman.h>
#include <unistd.h>

#include "atc/base/file.h"
#include "frontend/onnx/functions.h"
#include "frontend/onnx/graph_import.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/sniff.h"
#include "frontend/onnx/tensor_import.h"
#include "frontend/onnx/wire.h"

namespace atc::frontend {
namespace {

/// What a serialised ModelProto begins with: ir_version, field 1, a varint.
bool begins_like_onnx(std::span<const std::byte> file) { return file.front() == std::byte{0x08}; }

Status not_a_model(std::span<const std::byte> file, const std::string& reason, const Context& context) {
  if (const auto guess = guess_format(file))
    return context.fault("it looks like " + guess->what + ", not like an ONNX model").solution(guess->advice);
  return context.fault("it is not an ONNX model (" + reason + ")")
      .solution("Give the binary .onnx file that the exporter wrote.");
}

Status explain(const WireFault& fault, std::span<const std::byte> file, const Context& context) {
  if (fault.kind == WireFault::Kind::TooLarge || fault.kind == WireFault::Kind::TooDeep)
    return context.fault(fault.detail + ", at byte " + std::to_string(fault.offset));
  const bool truncated = fault.kind == WireFault::Kind::Truncated && begins_like_onnx(file);
  if (truncated && !guess_format(file))
    return context.fault("it is truncated: " + fault.detail)
        .cause("The file was not downloaded or copied completely.")
        .solution("Copy or export the model again.");
  return not_a_model(file, fault.detail + ", at byte " + std::to_string(fault.offset), context);
}

Status check_model(const onnx::ModelProto& proto, std::span<const std::byte> file, const Context& context) {
  if (proto.has_graph()) return {};
  if (!proto.has_ir_version()) return not_a_model(file, "it has neither an IR version nor a graph", context);
  if (guess_format(file)) return not_a_model(file, {}, context);
  return Status::error("E16004", "model " + context.file + " has no graph")
      .cause("The file is truncated or was not exported completely.")
      .solution("Export the model again.");
}

/// Everybody who reads weights touches their pages one by one, which costs more than the reading; the
/// kernel maps them together. A hint: errors do not matter.
void map_pages(std::span<const std::byte> file) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t head = reinterpret_cast<std::uintptr_t>(file.data()) % page;
  ::madvise(const_cast<std::byte*>(file.data()) - head, file.size() + head, MADV_POPULATE_READ);
}

}  // namespace

StatusOr<ir::Model> import_model(Bytes file_bytes, const std::filesystem::path& base_dir,
                                 std::string display_name) {
  const Context context{std::move(display_name)};
  if (file_bytes.empty())
    return context.fault("the file is empty").solution("Copy or export the model again.");
  const Skeleton skeleton = strip_raw_data(file_bytes.span());
  if (skeleton.fault) return explain(*skeleton.fault, file_bytes.span(), context);

  google::protobuf::Arena arena;
  auto& proto = *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  if (!proto.ParseFromArray(skeleton.bytes.data(), static_cast<int>(skeleton.bytes.size())))
    return not_a_model(file_bytes.span(), "protobuf cannot parse it", context);
  ATC_TRY(check_model(proto, file_bytes.span(), context));

  ir::Model model;
  model.file = context.file;
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.ir_version = proto.ir_version();
  const Opsets opsets = [&] {
    Opsets read = read_opsets(proto);
    // IR versions 1 and 2 knew one operator set only.
    if (read.empty() && proto.ir_version() < 3) read.emplace("", 1);
    return read;
  }();
  model.opsets = {opsets.begin(), opsets.end()};

  map_pages(file_bytes.span());
  FunctionTable functions;
  ATC_TRY(functions.load(proto, context));
  TensorImporter tensors(context, std::move(file_bytes), base_dir);
  ATC_ASSIGN(model.graph, GraphImporter(context, tensors, functions, opsets).import_main(proto.graph()));
  return model;
}

StatusOr<ir::Model> import_model(const std::filesystem::path& file) {
  ATC_ASSIGN(Bytes bytes, map_file(file));
  return import_model(std::move(bytes), file.parent_path(), file.string());
}

}  // namespace atc::frontend
