// libFuzzer: any bytes are a model that loads and verifies, or are refused with a diagnostic.
// frontend_fuzz -rss_limit_mb=4096 SEEDS, where SEEDS is a folder of .onnx files.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "atc/ir/verifier.h"
#include "frontend/onnx/importer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = atc::Bytes::copy_of(std::as_bytes(std::span(data, size)));
  // A folder without files: external data is looked up, and never found.
  const auto model = atc::frontend::import_model(bytes, "/nonexistent", "fuzz.onnx");
  if (model.ok() ? !atc::ir::verify(*model->graph).empty() : model.status().diagnostic().message.empty())
    std::abort();
  return 0;
}
