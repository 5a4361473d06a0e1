#pragma once

#include <filesystem>
#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/base/tensor.h"
#include "frontend/onnx/arena.h"
#include "frontend/onnx/context.h"
#include "frontend/onnx/external_data.h"

namespace onnx {
class SparseTensorProto;
class TensorProto;
}  // namespace onnx

namespace atc::frontend {

/// Turns tensor messages of a skeleton (see wire.h) into tensors. `who` names the tensor in diagnostics
/// ("initializer 'w'"). Every error is E10041, or E13000/E13001/E13003 for an external data file.
class TensorImporter {
 public:
  TensorImporter(const Context& context, Bytes model, std::filesystem::path base_dir)
      : context_(context), model_(std::move(model)), external_(context, std::move(base_dir)) {}

  /// A view of the model or of an external file, at any address; typed data fields are converted.
  StatusOr<Tensor> import(const onnx::TensorProto& proto, const std::string& who);

  /// The dense form of a COO tensor: values[i] at indices[i], zeros elsewhere. At most 1 GiB.
  StatusOr<Tensor> import_sparse(const onnx::SparseTensorProto& proto, const std::string& who);

 private:
  StatusOr<Bytes> external_bytes(const onnx::TensorProto& proto, std::size_t size, const std::string& who);
  StatusOr<Bytes> inline_bytes(const onnx::TensorProto& proto, const Tensor& tensor, const std::string& who);
  Bytes with_proper_bools(Bytes view);

  const Context& context_;
  Bytes model_;
  ExternalFiles external_;
  Arena arena_;
};

}  // namespace atc::frontend
