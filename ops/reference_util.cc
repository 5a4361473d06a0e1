#include "ops/reference_util.h"

#include <cstring>
#include <span>
#include <utility>

namespace atc::ops {

bool dispatchable(DType dtype) {
  switch (dtype) {
    case DType::F16:
    case DType::BF16:
    case DType::F32:
    case DType::F64:
    case DType::I8:
    case DType::I16:
    case DType::I32:
    case DType::I64:
    case DType::U8:
    case DType::U16:
    case DType::U32:
    case DType::U64:
    case DType::Bool:
      return true;
    default:
      return false;
  }
}

namespace {

// Of constants too, which may be views at any address.
template <class T>
T element(const Tensor& t, std::int64_t i) {
  ATC_CHECK(i >= 0 && static_cast<std::size_t>(i) < t.data.size() / sizeof(T), "no such element");
  T v;
  std::memcpy(&v, t.data.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
  return v;
}

}  // namespace

double double_at(const Tensor& t, std::int64_t i) {
  return dispatch(t.dtype, [&](auto tag) {
    return static_cast<double>(widen(element<typename decltype(tag)::type>(t, i)));
  });
}

std::int64_t int_at(const Tensor& t, std::int64_t i) {
  return dispatch(t.dtype, [&](auto tag) {
    return static_cast<std::int64_t>(widen(element<typename decltype(tag)::type>(t, i)));
  });
}

Dims row_major_strides(const Dims& dims) {
  Dims strides(dims.size());
  std::int64_t step = 1;
  for (std::size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  return strides;
}

Dims strides_over(const Dims& dims, const Dims& space) {
  ATC_CHECK(dims.size() <= space.size(), "strides_over: rank of operand exceeds the space");
  const Dims dense = row_major_strides(dims);
  const std::size_t lead = space.size() - dims.size();
  Dims strides(space.size(), 0);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    ATC_CHECK(dims[i] == 1 || dims[i] == space[lead + i], "strides_over: shapes do not broadcast");
    strides[lead + i] = dims[i] == 1 ? 0 : dense[i];
  }
  return strides;
}

std::optional<Dims> normalize_axes(const Dims& axes, std::size_t rank) {
  const auto r = static_cast<std::int64_t>(rank);
  Dims out;
  for (std::int64_t axis : axes) {
    if (axis < -r || axis >= r) return std::nullopt;
    const std::int64_t normal = axis < 0 ? axis + r : axis;
    if (std::ranges::find(out, normal) != out.end()) return std::nullopt;
    out.push_back(normal);
  }
  return out;
}

std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t da = i + a.size() < out.size() ? 1 : a[i + a.size() - out.size()];
    const std::int64_t db = i + b.size() < out.size() ? 1 : b[i + b.size() - out.size()];
    if (da != db && da != 1 && db != 1) return std::nullopt;
    out[i] = da == 1 ? db : da;
  }
  return out;
}

StridedWalk::StridedWalk(Dims space, std::vector<Dims> strides, std::vector<std::int64_t> start)
    : space_(std::move(space)),
      strides_(std::move(strides)),
      index_(space_.size(), 0),
      offsets_(std::move(start)),
      count_(element_count(space_)) {
  ATC_CHECK(count_ >= 0, "StridedWalk: space overflows");
  offsets_.resize(strides_.size(), 0);
}

void StridedWalk::next() {
  ++position_;
  for (std::size_t axis = space_.size(); axis-- > 0;) {
    ++index_[axis];
    for (std::size_t k = 0; k < strides_.size(); ++k) offsets_[k] += strides_[k][axis];
    if (index_[axis] < space_[axis]) return;
    for (std::size_t k = 0; k < strides_.size(); ++k) offsets_[k] -= strides_[k][axis] * space_[axis];
    index_[axis] = 0;
  }
}

ElementWriter::ElementWriter(DType dtype, Dims shape)
    : dtype_(dtype), bits_(bit_width(dtype)), count_(element_count(shape)), bytes_(dtype, std::move(shape)) {
  if (dtype_ == DType::String) strings_.resize(static_cast<std::size_t>(count_));
}

void ElementWriter::copy(std::int64_t to, const Tensor& src, std::int64_t from, std::int64_t count) {
  ATC_CHECK(src.dtype == dtype_, "ElementWriter: dtypes differ");
  ATC_CHECK(from >= 0 && count >= 0 && from + count <= src.count(), "ElementWriter: source range");
  ATC_CHECK(to >= 0 && to + count <= count_, "ElementWriter: destination range");
  if (dtype_ == DType::String) {
    std::copy_n(src.strings.begin() + from, count, strings_.begin() + to);
    return;
  }
  std::byte* dst = bytes_.bytes().data();
  if (bits_ >= 8) {
    const std::int64_t size = bits_ / 8;
    if (count > 0)
      std::memcpy(dst + to * size, src.data.data() + from * size, static_cast<std::size_t>(count * size));
    return;
  }
  const std::int64_t per_byte = 8 / bits_;
  const unsigned mask = (1U << bits_) - 1U;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto from_shift = static_cast<unsigned>((from + i) % per_byte * bits_);
    const auto to_shift = static_cast<unsigned>((to + i) % per_byte * bits_);
    const unsigned value =
        (std::to_integer<unsigned>(src.data.data()[(from + i) / per_byte]) >> from_shift) & mask;
    std::byte& target = dst[(to + i) / per_byte];
    target = static_cast<std::byte>((std::to_integer<unsigned>(target) & ~(mask << to_shift)) |
                                    (value << to_shift));
  }
}

Tensor ElementWriter::freeze() && {
  Tensor t = std::move(bytes_).freeze();
  t.strings = std::move(strings_);
  return t;
}

namespace {

/// One axis after the other, the innermost as a plain loop. `Element` is moved, never looked at.
template <class Element>
Element* copy_axis(const Element* src, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, Element* dst) {
  if (shape.empty()) {
    *dst = *src;
    return dst + 1;
  }
  if (shape.size() == 1) {
    for (std::int64_t i = 0; i < shape[0]; ++i) dst[i] = src[i * strides[0]];
    return dst + shape[0];
  }
  for (std::int64_t i = 0; i < shape[0]; ++i)
    dst = copy_axis(src + i * strides[0], shape.subspan(1), strides.subspan(1), dst);
  return dst;
}

struct Bytes16 {
  std::uint64_t low, high;
};

template <class Element>
Tensor copy_elements(const Tensor& src, const Dims& shape, const Dims& strides, std::int64_t start) {
  MutableTensor out(src.dtype, shape);
  copy_axis(reinterpret_cast<const Element*>(src.data.data()) + start, shape, strides,
            reinterpret_cast<Element*>(out.bytes().data()));
  return std::move(out).freeze();
}

}  // namespace

Tensor strided_copy(const Tensor& src, const Dims& shape, const Dims& strides, std::int64_t start) {
  ATC_CHECK(shape.size() == strides.size(), "strided_copy: one stride an axis");
  const std::int64_t count = element_count(shape);
  ATC_CHECK(count >= 0, "strided_copy: shape overflows");
  if (count == 0) return ElementWriter(src.dtype, shape).freeze();
  std::int64_t lowest = start;
  std::int64_t highest = start;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (strides[i] < 0 ? lowest : highest) += (shape[i] - 1) * strides[i];
  ATC_CHECK(lowest >= 0 && highest < src.count(), "strided_copy: source range");
  switch (bit_width(src.dtype)) {
    case 8:
      return copy_elements<std::uint8_t>(src, shape, strides, start);
    case 16:
      return copy_elements<std::uint16_t>(src, shape, strides, start);
    case 32:
      return copy_elements<std::uint32_t>(src, shape, strides, start);
    case 64:
      return copy_elements<std::uint64_t>(src, shape, strides, start);
    case 128:
      return copy_elements<Bytes16>(src, shape, strides, start);
    default:
      break;
  }
  ElementWriter out(src.dtype, shape);  // strings and packed elements
  for (StridedWalk w(shape, {strides}, {start}); !w.done(); w.next()) out.copy(w.position(), src, w.offset());
  return std::move(out).freeze();
}

Tensor with_shape(const Tensor& t, Dims shape) {
  ATC_CHECK(element_count(shape) == t.count(), "with_shape: element counts differ");
  Tensor out = t;
  out.shape = std::move(shape);
  return out;
}

Tensor filled(const Tensor& value, const Dims& shape) {
  const Dims still(shape.size(), 0);
  return strided_copy(value, shape, still);
}

}  // namespace atc::ops
