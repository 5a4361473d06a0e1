#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "atc/base/bytes.h"
#include "atc/base/status.h"
#include "atc/custom_op.h"
#include "custom/manifest.h"

namespace atc::custom {

/// A library in the process that loaded it: the child, where its faults do no harm. Never unloaded.
class LoadedLibrary {
 public:
  /// Loads the bytes of a shared object. E13029 when the system cannot load it, has not the function of
  /// atc/custom_op.h or another version of it; E13030 when what it lists makes no sense.
  static StatusOr<LoadedLibrary> load(const std::string& name, std::span<const std::byte> bytes);

  const LibraryInfo& info() const { return info_; }
  /// Outputs of `call` with the types that infer_dtype and infer_shape give them. E89999 with what the
  /// operator says.
  StatusOr<std::vector<TensorInfo>> infer(const Call& call, std::uint32_t combination) const;
  /// E89999 likewise.
  StatusOr<Tiling> tile(const Call& call, const AtcCustomChip& chip) const;
  /// The operator's attributes for an ONNX node with `call.attrs`.
  StatusOr<std::vector<AttrValue>> parse(const Call& call) const;
  AtcKernel kernel(std::uint32_t op, std::uint32_t combination) const;

  /// Where its code lies: file offset 0, first and last address.
  struct Code {
    std::uintptr_t base = 0, begin = 0, end = 0;
  };
  const Code& code() const { return code_; }

 private:
  const AtcCustomOpLibrary* library_ = nullptr;
  LibraryInfo info_;
  Code code_;
};

}  // namespace atc::custom
