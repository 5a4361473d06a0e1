#include "frontend/onnx/sniff.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace atc::frontend {
namespace {

struct Signature {
  std::size_t offset;
  std::string_view magic;
  std::string_view what;
  std::string_view advice;
};

using namespace std::string_view_literals;

constexpr auto kExport = "Export the model to ONNX from the framework that made it."sv;
constexpr auto kTensorFlow = "Convert it to ONNX first, for instance with tf2onnx."sv;
constexpr auto kDownload = "Download the model again: the server sent a page instead of the file."sv;

constexpr std::array kSignatures = {
    Signature{0, "version https://git-lfs.github.com/spec/"sv, "a Git LFS pointer instead of the model"sv,
              "Fetch the file itself with 'git lfs pull'."sv},
    Signature{0, "PK\x03\x04"sv, "a zip archive (a PyTorch .pt file or a compressed model)"sv,
              "Unpack the archive, or export the model to ONNX with torch.onnx.export."sv},
    Signature{0, "\x1f\x8b"sv, "a gzip archive"sv, "Unpack it first."sv},
    Signature{0, "BZh"sv, "a bzip2 archive"sv, "Unpack it first."sv},
    Signature{0,
              "\xfd"
              "7zXZ"sv,
              "an xz archive"sv, "Unpack it first."sv},
    Signature{0, "Rar!"sv, "a RAR archive"sv, "Unpack it first."sv},
    Signature{257, "ustar"sv, "a tar archive"sv, "Unpack it first."sv},
    Signature{0, "\x89HDF\r\n"sv, "an HDF5 file (a Keras .h5 model)"sv, kTensorFlow},
    Signature{4, "TFL3"sv, "a TensorFlow Lite model"sv, kTensorFlow},
    Signature{4, "ORTM"sv, "an ONNX Runtime .ort model"sv, "Use the .onnx model that it was made from."sv},
    Signature{0, "IMOD"sv, "a compiled .om model"sv,
              "It is compiled already: give the .onnx model that it was made from, or use --mode=1 or "
              "--mode=6 with --om to look into it."sv},
    Signature{0, "GGUF"sv, "a GGUF model"sv, kExport},
    Signature{0, "\x93NUMPY"sv, "a NumPy array"sv, kExport},
    Signature{0,
              "\x7f"
              "ELF"sv,
              "a program or shared library"sv, ""sv},
    Signature{0, "\x80\x02"sv, "a Python pickle (an old PyTorch .pt or .pth file)"sv, kExport},
    Signature{0, "\x80\x03"sv, "a Python pickle"sv, kExport},
    Signature{0, "\x80\x04"sv, "a Python pickle"sv, kExport},
    Signature{0, "<?xml"sv, "an XML file"sv, kExport},
    Signature{0, "7767517\n"sv, "an ncnn .param file"sv, kExport},
};

std::string_view as_text(std::span<const std::byte> file, std::size_t limit) {
  return {reinterpret_cast<const char*>(file.data()), std::min(file.size(), limit)};
}

bool starts_with_word(std::string_view text, std::string_view lower_word) {
  return text.size() >= lower_word.size() &&
         std::equal(lower_word.begin(), lower_word.end(), text.begin(), [](char want, char have) {
           return want == (have >= 'A' && have <= 'Z' ? static_cast<char>(have - 'A' + 'a') : have);
         });
}

FileGuess guess(std::string_view what, std::string_view advice) {
  return {std::string(what), std::string(advice)};
}

std::optional<FileGuess> guess_text(std::string_view head) {
  const auto begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string_view text = head.substr(begin);
  if (starts_with_word(text, "<!doctype html") || starts_with_word(text, "<html"))
    return guess("an HTML page", kDownload);
  if (text.starts_with("{\"") || text.starts_with("{\n") || text.starts_with("{ "))
    return guess("a JSON file", "Give the .onnx file.");
  if (text.starts_with("ir_version:") || text.starts_with("<ir_version"))
    return guess("an ONNX model in text form", "Convert it to the binary form.");
  const bool caffe = text.starts_with("layer") || text.starts_with("name:") || text.starts_with("input:");
  if (caffe) return guess("a Caffe prototxt", "Convert the Caffe model to ONNX first.");
  return std::nullopt;
}

/// Other formats that are protobuf messages too.
std::optional<FileGuess> guess_protobuf(std::string_view head) {
  // GraphDef: field 1 is a NodeDef, whose field 1 is its name. Lengths are one or two bytes here.
  for (std::size_t inner : {2u, 3u})
    if (head.size() > inner && head[0] == '\x0a' && head[inner] == '\x0a' && (inner == 2 || head[1] < 0))
      return guess("a TensorFlow graph (frozen .pb)", kTensorFlow);
  // SavedModel: schema version 1, then a MetaGraphDef whose field 1 is a message.
  for (std::size_t inner = 4; inner < 8; ++inner)
    if (head.starts_with("\x08\x01\x12") && head.size() > inner && head[inner] == '\x0a')
      return guess("a TensorFlow SavedModel", kTensorFlow);
  return std::nullopt;
}

}  // namespace

std::optional<FileGuess> guess_format(std::span<const std::byte> file) {
  const std::string_view head = as_text(file, 512);
  for (const Signature& s : kSignatures)
    if (head.size() >= s.offset && head.substr(s.offset).starts_with(s.magic)) return guess(s.what, s.advice);
  if (auto text = guess_text(head)) return text;
  return guess_protobuf(head);
}

}  // namespace atc::frontend
