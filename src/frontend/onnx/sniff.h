#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace atc::frontend {

/// What a file that is not an ONNX model looks like, and what its user can do.
struct FileGuess {
  std::string what;    ///< "a TensorFlow Lite model"
  std::string advice;  ///< a whole sentence; may be empty
};

/// Judges by the first bytes; nullopt when they say nothing.
std::optional<FileGuess> guess_format(std::span<const std::byte> file);

}  // namespace atc::frontend
