#include "om/writer.h"

#include <algorithm>
#include <array>
#include <future>
#include <string>

#include "atc/base/check.h"
#include "atc/base/file.h"
#include "om/container.h"
#include "om/inout_info.h"
#include "om/kernel_list.h"
#include "om/model_def.h"
#include "om/proto_util.h"
#include "om/task_info.h"

namespace atc::om {
namespace {

constexpr std::int64_t kPieceAlignment = 64;
/// Of the sections that name their size in 32 bits somewhere in the vendor's tools.
constexpr std::uint64_t kMaxSectionBytes = 0xFFFFFFFFULL;

/// The pieces in file order, checked.
std::vector<const plan::WeightPiece*> in_order(const std::vector<plan::WeightPiece>& weights,
                                               std::int64_t weight_bytes) {
  std::vector<const plan::WeightPiece*> order;
  for (const plan::WeightPiece& piece : weights) order.push_back(&piece);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->offset, a->bytes.size()) < std::pair(b->offset, b->bytes.size());
  });
  std::int64_t end = 0;
  for (const plan::WeightPiece* piece : order) {
    const std::string where = "the weights at offset " + std::to_string(piece->offset);
    ATC_CHECK(piece->offset % kPieceAlignment == 0, where + " are not aligned to 64 bytes");
    ATC_CHECK(piece->offset >= end, where + " overlap those before them");
    ATC_CHECK(piece->offset <= weight_bytes &&
                  piece->bytes.size() <= static_cast<std::uint64_t>(weight_bytes - piece->offset),
              where + " leave the weight section");
    end = piece->offset + static_cast<std::int64_t>(piece->bytes.size());
  }
  return order;
}

/// Makes the deferred pieces one ahead of the writing, in two blocks that take turns: the file's pages and
/// the next piece are filled at the same time, and never do more than two pieces stand in memory.
class Ahead {
 public:
  explicit Ahead(const std::vector<const plan::WeightPiece*>& pieces) {
    for (const plan::WeightPiece* p : pieces)
      if (p->bytes.is_deferred()) deferred_.push_back(&p->bytes);
    start();
  }
  /// The bytes of the next deferred piece, until the call after the next one.
  std::span<const std::byte> next() {
    const std::span<const std::byte> made = running_.get();
    ++at_;
    start();
    return made;
  }

 private:
  void start() {
    if (at_ == deferred_.size()) return;
    running_ = std::async(std::launch::async, [bytes = deferred_[at_], &block = blocks_[at_ % 2]] {
      if (block.size() < bytes->size()) {
        block = {};  // before the larger one is taken
        block = MutableBytes(bytes->size());
      }
      const std::span<std::byte> made = block.span().first(bytes->size());
      bytes->copy_to(made);
      return std::span<const std::byte>(made);
    });
  }

  std::vector<const Bytes*> deferred_;
  std::size_t at_ = 0;
  std::array<MutableBytes, 2> blocks_;
  std::future<std::span<const std::byte>> running_;
};

Status write_weights(FileWriter& file, const std::vector<const plan::WeightPiece*>& pieces,
                     std::int64_t weight_bytes) {
  Ahead ahead(pieces);
  std::int64_t at = 0;
  for (const plan::WeightPiece* piece : pieces) {
    ATC_TRY(file.skip(static_cast<std::uint64_t>(piece->offset - at)));
    ATC_TRY(file.write(piece->bytes.is_deferred() ? ahead.next() : piece->bytes.span()));
    at = piece->offset + static_cast<std::int64_t>(piece->bytes.size());
  }
  return file.skip(static_cast<std::uint64_t>(weight_bytes - at));
}

/// Lengthens MODEL_DEF so that the section after it starts on a page of the file.
void pad_model_def(std::string& model_def, std::size_t section_count) {
  constexpr std::size_t kShortest = 4;
  const std::size_t end = kHeaderBytes + table_bytes(section_count) + model_def.size();
  std::size_t gap = (kPageBytes - end % kPageBytes) % kPageBytes;
  if (gap == 0) return;
  if (gap < kShortest) gap += kPageBytes;
  model_def += padding_field(gap);
}

}  // namespace

std::uint64_t OmImage::file_bytes() const {
  std::uint64_t bytes = head.size();
  for (const SectionSize& s : sections) bytes += s.size;
  return bytes;
}

StatusOr<OmImage> make_om(const plan::Plan& plan, const std::vector<plan::WeightPiece>& weights,
                          const ir::Graph& graph) {
  OmImage image;
  image.pieces = in_order(weights, plan.weight_bytes);
  image.weight_bytes = plan.weight_bytes;
  ATC_ASSIGN(image.task_info, encode_task_info(plan));
  image.kernels = encode_kernel_list(plan);
  image.inout_info = encode_inout_info(plan);
  const auto weight_bytes = static_cast<std::uint64_t>(plan.weight_bytes);
  ATC_ASSIGN(image.model_def,
             encode_model_def(graph, plan, {weight_bytes, image.kernels.size(), image.task_info.size()}));

  std::vector<SectionSize>& sections = image.sections;
  sections = {{Section::ModelDef, image.model_def.size()}};
  if (weight_bytes > 0) sections.push_back({Section::WeightsData, weight_bytes});
  sections.push_back({Section::TaskInfo, image.task_info.size()});
  if (!image.kernels.empty()) sections.push_back({Section::Kernels, image.kernels.size()});
  if (!image.inout_info.empty()) sections.push_back({Section::ModelInOutInfo, image.inout_info.size()});
  if (weight_bytes > 0) {
    pad_model_def(image.model_def, sections.size());
    sections[0].size = image.model_def.size();
  }
  for (const SectionSize& s : sections) {
    if (s.section == Section::WeightsData || s.size <= kMaxSectionBytes) continue;
    return Status::error("E13023", "section " + section_name(static_cast<std::uint32_t>(s.section)) +
                                       " of the .om file takes " + std::to_string(s.size) +
                                       " bytes, at most 4294967295 are possible");
  }
  ATC_ASSIGN(image.head, encode_head(plan.model_name, sections));
  return image;
}

Status write_om(const std::filesystem::path& path, const OmImage& image) {
  ATC_ASSIGN(FileWriter file, FileWriter::create(path));
  ATC_TRY(file.write(image.head));
  ATC_TRY(file.write(image.model_def));
  if (image.weight_bytes > 0) {
    ATC_CHECK(file.position() % kPageBytes == 0, "the weight section is not page-aligned in the file");
    ATC_TRY(write_weights(file, image.pieces, image.weight_bytes));
  }
  ATC_TRY(file.write(image.task_info));
  if (!image.kernels.empty()) ATC_TRY(file.write(image.kernels));
  if (!image.inout_info.empty()) ATC_TRY(file.write(image.inout_info));
  return file.commit();
}

Status write_om(const std::filesystem::path& path, const plan::Plan& plan,
                const std::vector<plan::WeightPiece>& weights, const ir::Graph& graph) {
  ATC_ASSIGN(const OmImage image, make_om(plan, weights, graph));
  return write_om(path, image);
}

}  // namespace atc::om
