#include "custom/loaded_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "custom/elf_file.h"
#include "custom/raw_manifest.h"

namespace atc::custom {
namespace {

constexpr std::size_t kErrorBytes = 2048;
constexpr std::size_t kTilingCapacity = std::size_t{1} << 20;

/// A Call as the library sees it. Views into the Call: it must outlive this.
class RawCall {
 public:
  RawCall(const Call& call, const AtcCustomOp& op) {
    raw_.op = &op;
    fill(call.inputs, inputs_);
    fill(call.outputs, outputs_);
    for (const AttrValue& a : call.attrs)
      attrs_.push_back(
          {a.name.c_str(), static_cast<std::uint32_t>(a.kind),
           static_cast<std::uint32_t>(a.kind == AttrKind::Floats ? a.floats.size() : a.ints.size()), a.i, a.f,
           a.s.c_str(), a.ints.data(), a.floats.data()});
    raw_.inputs = inputs_.data();
    raw_.input_count = static_cast<std::uint32_t>(inputs_.size());
    raw_.outputs = outputs_.data();
    raw_.output_count = static_cast<std::uint32_t>(outputs_.size());
    raw_.attrs = attrs_.data();
    raw_.attr_count = static_cast<std::uint32_t>(attrs_.size());
    raw_.error = error_;
    raw_.error_bytes = sizeof error_;
  }
  RawCall(const RawCall&) = delete;
  RawCall& operator=(const RawCall&) = delete;

  AtcCustomCall& raw() { return raw_; }
  std::vector<AtcCustomTensor>& outputs() { return outputs_; }
  std::string error() {
    error_[sizeof error_ - 1] = '\0';
    return error_[0] == '\0' ? "it gives no reason" : error_;
  }

 private:
  static void fill(const std::vector<TensorInfo>& from, std::vector<AtcCustomTensor>& to) {
    for (const TensorInfo& t : from) {
      AtcCustomTensor& raw = to.emplace_back();
      raw.dtype = acl_dtype(t.dtype);
      raw.format = ATC_FORMAT_ND;
      raw.rank = t.shape ? static_cast<std::int32_t>(t.shape->size()) : -1;
      if (t.shape) std::copy(t.shape->begin(), t.shape->end(), raw.dims);
      raw.data = t.data.empty() ? nullptr : t.data.data();
      raw.data_bytes = t.data.size();
    }
  }

  std::vector<AtcCustomTensor> inputs_, outputs_;
  std::vector<AtcCustomAttr> attrs_;
  AtcCustomCall raw_ = {};
  char error_[kErrorBytes] = {};
};

/// The executable stretch of the object that holds `address`.
LoadedLibrary::Code code_around(const void* address) {
  struct Search {
    std::uintptr_t address;
    LoadedLibrary::Code found;
  } search{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Search& s = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
          const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
          if (s.address < begin || s.address >= end) continue;
          s.found = {info->dlpi_addr, begin, end};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

Status refused(const OpInfo& op, const std::string& function, const std::string& why) {
  return Status::error("E89999", "The " + function + " function of operator " + op.type + " refuses: " + why);
}

}  // namespace

StatusOr<LoadedLibrary> LoadedLibrary::load(const std::string& name, std::span<const std::byte> bytes) {
  const auto cannot = [&](const std::string& why) {
    return Status::error("E13029", "The library " + name + " cannot be loaded: " + why);
  };
  if (const Status whole = check_elf_file(bytes); !whole.ok())
    return Status(cannot(whole.diagnostic().message)).solution(whole.diagnostic().solution);
  const int fd = memfd_create(name.c_str(), MFD_CLOEXEC);
  if (fd < 0) return cannot(std::strerror(errno));
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + at, bytes.size() - at);
    if (n <= 0 && errno != EINTR) return cannot(std::strerror(errno));
    if (n > 0) at += static_cast<std::size_t>(n);
  }
  // The descriptor stays open: debuggers find the file by it.
  const std::string path = "/proc/self/fd/" + std::to_string(fd);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::string why = dlerror();
    if (why.starts_with(path + ": ")) why.erase(0, path.size() + 2);
    return cannot(why);
  }
  const auto function = reinterpret_cast<AtcCustomOpLibraryFunction>(dlsym(handle, ATC_CUSTOM_OP_SYMBOL));
  if (function == nullptr)
    return Status(cannot("it does not export " ATC_CUSTOM_OP_SYMBOL))
        .solution("Build it by msopgen compile or ascendc-g++, or write the function of atc/custom_op.h.");
  const AtcCustomOpLibrary* library = function(ATC_CUSTOM_OP_VERSION);
  if (library == nullptr) return cannot(ATC_CUSTOM_OP_SYMBOL " answers null");
  const auto versions = [&](const char* what, std::uint32_t theirs, std::uint32_t ours) {
    return Status(cannot("it is built for version " + std::to_string(theirs) + " of " + what +
                         ", this program has version " + std::to_string(ours)))
        .solution("Build the library anew with this program's headers.");
  };
  if (library->version != ATC_CUSTOM_OP_VERSION)
    return versions("the interface for custom operators", library->version, ATC_CUSTOM_OP_VERSION);
  if (library->core_api_version != ATC_CORE_API_VERSION)
    return versions("the AI Core's instructions", library->core_api_version, ATC_CORE_API_VERSION);
  LoadedLibrary out;
  out.library_ = library;
  out.code_ = code_around(reinterpret_cast<const void*>(function));
  ATC_ASSIGN(out.info_, read_manifest(*library, name));
  return out;
}

StatusOr<std::vector<TensorInfo>> LoadedLibrary::infer(const Call& call, std::uint32_t combination) const {
  const AtcCustomOp& op = library_->ops[call.op];
  const OpInfo& info = info_.ops[call.op];
  Call with_outputs = call;
  with_outputs.outputs.clear();
  for (const ParamInfo& p : info.outputs) with_outputs.outputs.push_back({p.dtypes[combination], {}, {}});
  RawCall raw(with_outputs, op);
  raw.raw().output_count = 0;
  if (op.infer_dtype != nullptr && op.infer_dtype(&raw.raw(), raw.outputs().data()) != 0)
    return refused(info, "infer_dtype", raw.error());
  if (op.infer_shape(&raw.raw(), raw.outputs().data()) != 0) return refused(info, "infer_shape", raw.error());

  std::vector<TensorInfo> out;
  for (std::size_t i = 0; i < raw.outputs().size(); ++i) {
    const AtcCustomTensor& t = raw.outputs()[i];
    const std::string who = "output " + std::to_string(i) + " '" + info.outputs[i].name + "' ";
    const auto dtype = dtype_from_acl(t.dtype);
    if (!dtype)
      return refused(info, "infer_dtype",
                     who + "has the element type " + std::to_string(t.dtype) + ", which does not exist");
    if (t.rank > ATC_CUSTOM_OP_MAX_RANK)
      return refused(info, "infer_shape",
                     who + "has rank " + std::to_string(t.rank) + ", at most " +
                         std::to_string(ATC_CUSTOM_OP_MAX_RANK) + " is possible");
    TensorInfo& made = out.emplace_back();
    made.dtype = *dtype;
    if (t.rank < 0) continue;
    made.shape = Dims(t.dims, t.dims + t.rank);
    for (const std::int64_t d : *made.shape)
      if (d < -1) return refused(info, "infer_shape", who + "has a dim of " + std::to_string(d));
  }
  return out;
}

StatusOr<Tiling> LoadedLibrary::tile(const Call& call, const AtcCustomChip& chip) const {
  const AtcCustomOp& op = library_->ops[call.op];
  RawCall raw(call, op);
  raw.raw().chip = &chip;
  std::string data(kTilingCapacity, '\0');
  AtcCustomTiling tiling = {};
  tiling.block_dim = 1;
  tiling.kernel_type = op.kernel_type;
  tiling.data = data.data();
  tiling.data_capacity = data.size();
  if (op.tiling(&raw.raw(), &tiling) != 0) return refused(info_.ops[call.op], "tiling", raw.error());
  if (tiling.data_bytes > data.size())
    return refused(info_.ops[call.op], "tiling",
                   "it claims " + std::to_string(tiling.data_bytes) + " bytes of tiling data, " +
                       std::to_string(data.size()) + " are possible");
  Tiling out;
  out.block_dim = tiling.block_dim;
  out.kernel_type = tiling.kernel_type;
  out.schedule_mode = tiling.schedule_mode;
  out.tiling_key = tiling.tiling_key;
  out.workspace_bytes = tiling.workspace_bytes;
  out.data = data.substr(0, tiling.data_bytes);
  return out;
}

StatusOr<std::vector<AttrValue>> LoadedLibrary::parse(const Call& call) const {
  const AtcCustomOp& op = library_->ops[call.op];
  if (op.parse == nullptr) return call.attrs;
  RawCall raw(call, op);
  std::vector<AttrValue> out;
  const auto set = [](void* to, const AtcCustomAttr* attr) {
    if (attr != nullptr && attr->kind < kAttrKinds)
      static_cast<std::vector<AttrValue>*>(to)->push_back(copy_attr(*attr));
  };
  if (op.parse(&raw.raw(), set, &out) != 0) return refused(info_.ops[call.op], "attribute", raw.error());
  return out;
}

AtcKernel LoadedLibrary::kernel(std::uint32_t op, std::uint32_t combination) const {
  return library_->ops[op].kernels[combination];
}

}  // namespace atc::custom
