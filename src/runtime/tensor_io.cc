#include "runtime/tensor_io.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "atc/base/file.h"
#include "atc/base/half.h"
#include "runtime/npy.h"
#include "runtime/tensor_proto.h"

namespace atc::runtime {
namespace {

struct FormatName {
  TensorFormat format;
  std::string_view name, extension;
};
constexpr std::array kFormats = {
    FormatName{TensorFormat::Bin, "bin", ".bin"}, FormatName{TensorFormat::Npy, "npy", ".npy"},
    FormatName{TensorFormat::Txt, "txt", ".txt"}, FormatName{TensorFormat::Pb, "pb", ".pb"}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::string type_text(DType dtype, const Dims& shape) {
  return std::string(onnx_name(dtype)) + "[" + to_string(shape) + "]";
}

Status wrong_input(const TensorSpec& spec, const std::string& found) {
  return Status::error("E13025", describe(spec) + " was given " + found);
}

StatusOr<Tensor> decode(const std::filesystem::path& path, const Bytes& file, const TensorSpec& spec) {
  const std::string ext = lower(path.extension().string());
  if (ext == ".npy") return decode_npy(file, spec.dtype);
  if (ext == ".pb") {
    ATC_ASSIGN(NamedTensor named, decode_tensor_proto(file));
    return std::move(named.tensor);
  }
  Tensor t;
  t.dtype = spec.dtype;
  t.shape = spec.shape;
  const std::int64_t count = element_count(spec.shape);
  if (spec.dtype == DType::String) return wrong_input(spec, "a raw file; strings need a .pb file");
  const std::size_t needed =
      byte_size(spec.dtype, static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  if (count < 0 || file.size() != needed)
    return wrong_input(spec, std::to_string(file.size()) + " bytes, expected " + std::to_string(needed));
  t.data = file;
  return t;
}

template <class T>
void append_number(std::string& out, T value) {
  std::array<char, 64> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), end);
}

template <class T, class F>
void append_rows(std::string& out, std::span<const T> values, std::size_t row, const F& append) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    append(out, values[i]);
    out.push_back((i + 1) % row == 0 ? '\n' : ' ');
  }
}

template <class T>
void append_numbers(std::string& out, std::span<const T> values, std::size_t row) {
  append_rows(out, values, row, [](std::string& o, T v) { append_number(o, v); });
}

/// The floating types that C++ lacks: every value of theirs is a float.
void append_as_floats(std::string& out, const Tensor& t, std::size_t row) {
  const std::vector<double> values = to_doubles(t);
  append_rows(out, std::span<const double>(values), row,
              [](std::string& o, double v) { append_number(o, static_cast<float>(v)); });
}

}  // namespace

std::optional<TensorFormat> tensor_format_from_name(std::string_view name) {
  const std::string wanted = lower(name);
  for (const FormatName& f : kFormats)
    if (f.name == wanted) return f.format;
  return std::nullopt;
}

std::string_view extension(TensorFormat format) {
  return kFormats[static_cast<std::size_t>(format)].extension;
}

std::string describe(const TensorSpec& spec) {
  return "input '" + spec.name + "' (" + type_text(spec.dtype, spec.shape) + ")";
}

Status check_tensor(const Tensor& tensor, const TensorSpec& spec) {
  if (tensor.dtype != spec.dtype || tensor.shape != spec.shape)
    return wrong_input(spec, type_text(tensor.dtype, tensor.shape));
  const std::int64_t count = tensor.count();
  if (tensor.dtype == DType::String) {
    if (static_cast<std::int64_t>(tensor.strings.size()) != count)
      return wrong_input(spec, std::to_string(tensor.strings.size()) + " strings");
  } else if (count < 0 || tensor.data.size() != tensor.byte_size()) {
    return wrong_input(spec, std::to_string(tensor.data.size()) + " bytes of data");
  }
  return {};
}

StatusOr<Tensor> read_tensor(const std::filesystem::path& path, const TensorSpec& spec) {
  const auto add_context = [&](Status status) {
    return std::move(status).while_doing("reading " + path.string() + " for " + describe(spec));
  };
  StatusOr<Bytes> file = map_file(path);
  if (!file.ok()) return add_context(std::move(file).status());
  StatusOr<Tensor> tensor = decode(path, *file, spec);
  if (!tensor.ok()) return add_context(std::move(tensor).status());
  if (Status status = check_tensor(*tensor, spec); !status.ok()) return add_context(std::move(status));
  return tensor;
}

std::string to_text(const Tensor& t) {
  std::string out;
  const std::size_t row =
      t.shape.empty() || t.shape.back() == 0 ? 1 : static_cast<std::size_t>(t.shape.back());
  switch (t.dtype) {
    case DType::String:
      append_rows(out, std::span<const std::string>(t.strings), row,
                  [](std::string& o, const std::string& s) { o += s; });
      break;
    case DType::F32:
      append_numbers(out, t.as<float>(), row);
      break;
    case DType::F64:
      append_numbers(out, t.as<double>(), row);
      break;
    case DType::C64:
      append_numbers(
          out, std::span(reinterpret_cast<const float*>(t.data.data()), 2 * t.as<std::uint64_t>().size()),
          2 * row);
      break;
    case DType::C128:
      append_numbers(
          out, std::span(reinterpret_cast<const double*>(t.data.data()), t.data.size() / sizeof(double)),
          2 * row);
      break;
    case DType::U64:
      append_numbers(out, t.as<std::uint64_t>(), row);
      break;
    default:
      if (is_float(t.dtype)) {
        append_as_floats(out, t, row);
      } else {
        const std::vector<std::int64_t> values = to_int64s(t);
        append_numbers(out, std::span<const std::int64_t>(values), row);
      }
  }
  return out;
}

Status write_tensor(const std::filesystem::path& path, TensorFormat format, std::string_view name,
                    const Tensor& tensor) {
  if (format == TensorFormat::Txt) return write_file(path, to_text(tensor));
  std::string head;
  Tensor body = tensor;
  if (format == TensorFormat::Npy) {
    ATC_ASSIGN(head, encode_npy_head(tensor));
    body = npy_form(tensor);
  } else if (format == TensorFormat::Pb) {
    head = encode_tensor_proto_head(name, tensor);
  } else if (tensor.dtype == DType::String) {
    return Status::error("E10055", "a string tensor cannot be written as raw elements")
        .solution("Use --outfmt TXT or PB.");
  }
  ATC_ASSIGN(FileWriter out, FileWriter::create(path));
  ATC_TRY(out.write(head));
  if (body.dtype != DType::String) ATC_TRY(out.write(body.data.span()));
  return out.commit();
}

}  // namespace atc::runtime
