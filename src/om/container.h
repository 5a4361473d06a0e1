#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "atc/base/bytes.h"
#include "atc/base/status.h"

namespace atc::om {

/// Partition types of a .om file that we know by name.
enum class Section : std::uint32_t {
  ModelDef = 0,
  WeightsData = 1,
  TaskInfo = 2,
  Kernels = 3,
  CustAicpuKernels = 4,
  SoBins = 5,
  ModelInOutInfo = 8,
};
/// "MODEL_DEF", ..., or "type 23" of a section that we do not know.
std::string section_name(std::uint32_t type);

inline constexpr std::size_t kHeaderBytes = 256;
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::uint32_t kMaxPartitions = 8;  ///< the vendor's loader takes 1 to 8
/// Bytes of a 64-bit partition table of `count` entries.
constexpr std::size_t table_bytes(std::size_t count) { return 8 + 24 * count; }

/// A stretch of the file. `offset` is from the start of the file.
struct Partition {
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

/// The first model of a .om file, taken apart: header and partition table are checked, payloads are
/// views into the file.
struct Container {
  Bytes file;
  std::string name;  ///< of the header, at most 31 bytes
  bool wide_table = true;
  std::vector<Partition> partitions;

  const Partition* find(Section section) const;
  /// nullopt when the file has no such section.
  std::optional<Bytes> payload(Section section) const;
};

/// Takes a .om file of ours or of the vendor apart: either table form, one or more models (only the
/// first is looked at). E10041 with what is wrong: every offset, size and count is checked.
StatusOr<Container> open_container(const Bytes& file);

/// One section to be written.
struct SectionSize {
  Section section = Section::ModelDef;
  std::uint64_t size = 0;
};

/// The 256-byte header and the 64-bit partition table of a file that holds `sections` in this order,
/// payloads back to back. E13023 when the total does not fit.
StatusOr<std::string> encode_head(std::string_view model_name, const std::vector<SectionSize>& sections);

/// E10041: "Failed to load the model: " + reason.
Status broken(const std::string& reason);

}  // namespace atc::om
