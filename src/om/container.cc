#include "om/container.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "atc/base/check.h"
#include "om/little_endian.h"

namespace atc::om {
namespace {

constexpr std::uint32_t kMagic = 0x444F4D49;    // "IMOD"
constexpr std::uint32_t kVersion = 0x20000000;  // 2.0, the first with model_num and 64-bit sizes
constexpr std::size_t kNameBytes = 32;          // with the terminating zero

// Offsets of the header's fields.
constexpr std::size_t kAtHeadSize = 4;
constexpr std::size_t kAtVersion = 8;
constexpr std::size_t kAtLength = 76;
constexpr std::size_t kAtEncrypt = 80;
constexpr std::size_t kAtName = 84;
constexpr std::size_t kAtModelNum = 156;
constexpr std::size_t kAtModelLength = 184;

constexpr std::array<std::pair<Section, std::string_view>, 7> kSectionNames = {{
    {Section::ModelDef, "MODEL_DEF"},
    {Section::WeightsData, "WEIGHTS_DATA"},
    {Section::TaskInfo, "TASK_INFO"},
    {Section::Kernels, "TBE_KERNELS"},
    {Section::CustAicpuKernels, "CUST_AICPU_KERNELS"},
    {Section::SoBins, "SO_BINS"},
    {Section::ModelInOutInfo, "MODEL_INOUT_INFO"},
}};

std::string number(std::uint64_t v) { return std::to_string(v); }

/// At most 31 bytes, never half a UTF-8 character.
std::string header_name(std::string_view name) {
  std::size_t n = std::min(name.size(), kNameBytes - 1);
  if (n < name.size())
    while (n > 0 && (static_cast<unsigned char>(name[n]) & 0xC0) == 0x80) --n;
  return std::string(name.substr(0, n));
}

struct Header {
  std::uint64_t payload = 0;  ///< bytes after the header
  bool wide = false;
  std::uint32_t model_num = 1;
  std::string name;
};

StatusOr<Header> read_header(std::span<const std::byte> file) {
  if (file.size() < kHeaderBytes)
    return broken("the file has " + number(file.size()) + " bytes, the header alone takes 256");
  if (get<std::uint32_t>(file, 0) != kMagic)
    return broken("it is not an .om file: the first four bytes are not IMOD");
  if (const auto size = get<std::uint32_t>(file, kAtHeadSize); size != kHeaderBytes)
    return broken("the header says that it has " + number(size) + " bytes, 256 are expected");
  if (std::to_integer<int>(file[kAtEncrypt]) != 0) return broken("the model is encrypted");

  Header header;
  const std::uint64_t rest = file.size() - kHeaderBytes;
  const auto model_length = get<std::uint64_t>(file, kAtModelLength);
  header.wide = model_length != 0;
  header.payload = header.wide ? model_length : get<std::uint32_t>(file, kAtLength);
  if (header.payload != rest)
    return broken("the header announces " + number(header.payload) + " bytes after it, the file has " +
                  number(rest) + (header.payload > rest ? ": it is truncated" : ""));
  if (get<std::uint32_t>(file, kAtVersion) >= kVersion)
    header.model_num = std::max(1U, get<std::uint32_t>(file, kAtModelNum));
  const auto* name = reinterpret_cast<const char*>(file.data()) + kAtName;
  header.name.assign(name, std::find(name, name + kNameBytes, '\0'));
  return header;
}

}  // namespace

Status broken(const std::string& reason) {
  return Status::error("E10041", "Failed to load the model: " + reason);
}

std::string section_name(std::uint32_t type) {
  for (const auto& [section, text] : kSectionNames)
    if (static_cast<std::uint32_t>(section) == type) return std::string(text);
  return "type " + number(type);
}

const Partition* Container::find(Section section) const {
  for (const Partition& p : partitions)
    if (p.type == static_cast<std::uint32_t>(section)) return &p;
  return nullptr;
}

std::optional<Bytes> Container::payload(Section section) const {
  const Partition* p = find(section);
  if (p == nullptr) return std::nullopt;
  return file.subspan(static_cast<std::size_t>(p->offset), static_cast<std::size_t>(p->size));
}

StatusOr<Container> open_container(const Bytes& file) {
  const auto bytes = file.span();
  ATC_ASSIGN(const Header header, read_header(bytes));

  ByteReader reader(bytes.subspan(kHeaderBytes));
  const auto count = reader.read<std::uint32_t>();
  if (!reader.ok()) return broken("the file ends before the partition table");
  if (count < 1 || count > kMaxPartitions)
    return broken("the partition table has " + number(count) + " entries, 1 to 8 are possible");
  const std::size_t table = header.wide ? table_bytes(count) : 4 + 12 * std::size_t{count};
  if (bytes.size() - kHeaderBytes < table)
    return broken("the partition table of " + number(count) + " entries reaches beyond the end of the file");
  if (header.wide) reader.read<std::uint32_t>();

  Container out;
  out.file = file;
  out.name = header.name;
  out.wide_table = header.wide;
  const std::uint64_t payload = bytes.size() - kHeaderBytes - table;
  std::uint64_t expected = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    Partition p;
    p.type = reader.read<std::uint32_t>();
    if (header.wide) reader.read<std::uint32_t>();
    p.offset = header.wide ? reader.read<std::uint64_t>() : reader.read<std::uint32_t>();
    p.size = header.wide ? reader.read<std::uint64_t>() : reader.read<std::uint32_t>();
    const std::string name = section_name(p.type);
    for (const Partition& other : out.partitions)
      if (other.type == p.type) return broken("section " + name + " occurs twice in the partition table");
    if (p.offset != expected)
      return broken("section " + name + " is at offset " + number(p.offset) + ", " + number(expected) +
                    " is expected: sections follow each other without gaps");
    if (p.size > payload - expected)
      return broken("section " + name + " of " + number(p.size) +
                    " bytes reaches beyond the end of the file");
    expected += p.size;
    p.offset += kHeaderBytes + table;
    out.partitions.push_back(p);
  }
  // Further models of a dynamic file follow the first; only a single one must fill the file.
  if (header.model_num == 1 && expected != payload)
    return broken("the sections have " + number(expected) + " bytes together, the file has " +
                  number(payload) + " after the partition table");
  if (out.find(Section::ModelDef) == nullptr) return broken("there is no section MODEL_DEF");
  return out;
}

StatusOr<std::string> encode_head(std::string_view model_name, const std::vector<SectionSize>& sections) {
  ATC_CHECK(sections.size() >= 2 && sections.size() <= kMaxPartitions, "a .om file has 2 to 8 sections");
  std::uint64_t total = table_bytes(sections.size());
  for (const SectionSize& s : sections)
    if (__builtin_add_overflow(total, s.size, &total))
      return Status::error("E13023", "the sections of the .om file exceed 2^64 bytes together");

  std::string head(kHeaderBytes, '\0');
  const auto store = [&](std::size_t at, auto value) {
    std::string text;
    put(text, value);
    head.replace(at, text.size(), text);
  };
  constexpr std::uint64_t kMax32 = std::numeric_limits<std::uint32_t>::max();
  store(0, kMagic);
  store(kAtHeadSize, static_cast<std::uint32_t>(kHeaderBytes));
  store(kAtVersion, kVersion);
  store(kAtLength, static_cast<std::uint32_t>(std::min(total, kMax32)));
  head[81] = 1;  // is_checksum: the vendor's default, though open builds leave the checksum zero
  const std::string name = header_name(model_name);
  head.replace(kAtName, name.size(), name);
  store(kAtModelNum, std::uint32_t{1});
  store(kAtModelLength, total);

  put(head, static_cast<std::uint32_t>(sections.size()));
  put(head, std::uint32_t{0});
  std::uint64_t offset = 0;
  for (const SectionSize& s : sections) {
    put(head, static_cast<std::uint32_t>(s.section));
    put(head, std::uint32_t{0});
    put(head, offset);
    put(head, s.size);
    offset += s.size;
  }
  return head;
}

}  // namespace atc::om
