#include "atc/unit_test.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "atc/base/math.h"
#include "atc/base/strings.h"
#include "custom/kernel_profile.h"
#include "custom/library.h"

/// The operator, and the memory of its last run.
struct AtcUnitTest {
  std::shared_ptr<atc::custom::Library> library;
  std::uint32_t op = 0;
  const atc::soc::Chip* chip = nullptr;
  std::shared_ptr<atc::custom::SharedMemory> memory;
  std::int64_t cycles = 0;
  const atc::custom::OpInfo& info() const { return library->info().ops[op]; }
};

namespace {

using atc::Dims;
using atc::DType;
using atc::Status;
using atc::StatusOr;
using namespace atc::custom;

/// Whole pages for each tensor: what a kernel writes behind one ends in a diagnostic.
constexpr std::int64_t kPage = 4096;
/// A result that the kernel leaves alone is seen: NaN, or -1.
constexpr int kUnwritten = 0xff;

Status fault(const std::string& what) { return Status::error("E40021", what); }

StatusOr<std::unique_ptr<AtcUnitTest>> open(const char* library, const char* type) {
  auto test = std::make_unique<AtcUnitTest>();
  const char* chip = std::getenv("ATC_SOC_VERSION");
  ATC_ASSIGN(test->chip, atc::soc::find_chip(chip == nullptr ? "Ascend910B3" : chip));
  ATC_ASSIGN(test->library, Library::open(library));
  const int op = test->library->find(type);
  std::vector<std::string> types;
  for (const OpInfo& o : test->library->info().ops) types.push_back(o.type);
  if (op < 0)
    return fault(std::string(library) + " has no operator " + type + ", it lists " + atc::join(types, ", "));
  test->op = static_cast<std::uint32_t>(op);
  if (!chip_matches(test->info(), test->chip->name))
    return fault("operator " + std::string(type) + " is made for " + atc::join(test->info().chips, ", ") +
                 ", the test runs on " + std::string(test->chip->name) + " (ATC_SOC_VERSION)");
  return test;
}

/// What follows `--profile` on the program's command line, else the environment variable ATC_PROFILE: tests
/// have a main of their own that need not know of it.
std::string profile_folder() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string a; std::getline(file, a, '\0');) arguments.push_back(a);
  constexpr std::string_view kOption = "--profile";
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    if (arguments[i] == kOption) return i + 1 < arguments.size() ? arguments[i + 1] : "profile";
    if (arguments[i].starts_with("--profile=")) return arguments[i].substr(kOption.size() + 1);
  }
  const char* folder = std::getenv("ATC_PROFILE");
  return folder == nullptr ? "" : folder;
}

/// Of all runs of the program; null when none is wanted.
KernelProfile* kernel_profile(const atc::soc::Chip& chip) {
  static const std::string folder = profile_folder();
  if (folder.empty()) return nullptr;
  static KernelProfile profile(chip, folder);
  return &profile;
}

StatusOr<TensorInfo> input_info(const ParamInfo& param, std::uint32_t combination, const AtcUnitTensor& t) {
  TensorInfo out;
  out.dtype = param.dtypes[combination];
  if (t.rank < 0) {
    if (param.optional) return out;
    return fault("input '" + param.name + "' is absent");
  }
  if (t.rank > ATC_CUSTOM_OP_MAX_RANK) return fault("input '" + param.name + "' has too many dims");
  out.shape = Dims(t.dims, t.dims + t.rank);
  for (const std::int64_t d : *out.shape)
    if (d < 0) return fault("input '" + param.name + "' has the dims [" + atc::to_string(*out.shape) + "]");
  const std::size_t bytes = byte_size(out.dtype, static_cast<std::size_t>(atc::element_count(*out.shape)));
  if (t.dtype != acl_dtype(out.dtype) || t.bytes != bytes)
    return fault("input '" + param.name + "' has " + std::to_string(t.bytes) + " bytes of element type " +
                 std::to_string(t.dtype) + ", the operator takes " + std::to_string(bytes) + " of type " +
                 std::to_string(acl_dtype(out.dtype)));
  if (param.wants_data) out.data.assign(static_cast<const char*>(t.data), t.bytes);
  return out;
}

Status set_attrs(const OpInfo& op, const AtcCustomAttr* attrs, std::uint32_t count, Call& call) {
  for (const AttrInfo& a : op.attrs) call.attrs.push_back(a.value);
  for (std::uint32_t i = 0; i < count; ++i) {
    const AtcCustomAttr& given = attrs[i];
    const auto at = std::find_if(call.attrs.begin(), call.attrs.end(),
                                 [&](const AttrValue& a) { return a.name == given.name; });
    if (at == call.attrs.end() || static_cast<std::uint32_t>(at->kind) != given.kind)
      return fault("operator " + op.type + " has no attribute " + given.name + " of kind " +
                   std::to_string(given.kind));
    at->i = given.i;
    at->f = given.f;
    if (given.s != nullptr) at->s = given.s;
    if (given.ints != nullptr) at->ints.assign(given.ints, given.ints + given.count);
    if (given.floats != nullptr) at->floats.assign(given.floats, given.floats + given.count);
  }
  return {};
}

std::int64_t bytes_of(const TensorInfo& t) {
  return static_cast<std::int64_t>(
      byte_size(t.dtype, static_cast<std::size_t>(t.shape ? atc::element_count(*t.shape) : 0)));
}

Status run(AtcUnitTest& test, std::uint32_t combination, const AtcUnitTensor* inputs,
           const AtcCustomAttr* attrs, std::uint32_t attr_count, AtcUnitTensor* outputs) {
  const OpInfo& op = test.info();
  if (combination >= op.combinations)
    return fault("operator " + op.type + " has " + std::to_string(op.combinations) +
                 " combinations of element types, not number " + std::to_string(combination));
  Call call;
  call.op = test.op;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    ATC_ASSIGN(TensorInfo t, input_info(op.inputs[i], combination, inputs[i]));
    call.inputs.push_back(std::move(t));
  }
  ATC_TRY(set_attrs(op, attrs, attr_count, call));
  ATC_ASSIGN(call.outputs, test.library->infer(combination, call));
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    if (!call.outputs[i].shape || std::any_of(call.outputs[i].shape->begin(), call.outputs[i].shape->end(),
                                              [](auto d) { return d < 0; }))
      return fault("infer_shape leaves output '" + op.outputs[i].name + "' open");
  Launch launch;
  launch.op = test.op;
  launch.combination = combination;
  launch.soc_version = std::string(test.chip->name);
  launch.timing = launch.checks = true;
  KernelProfile* profile = kernel_profile(*test.chip);
  launch.trace = profile != nullptr;
  ATC_ASSIGN(launch.tiling, test.library->tile(call, launch.soc_version));
  if (launch.tiling.workspace_bytes > static_cast<std::uint64_t>(test.chip->global_memory))
    return fault("tiling asks for a workspace of " + std::to_string(launch.tiling.workspace_bytes) +
                 " bytes, " + launch.soc_version + " has " + std::to_string(test.chip->global_memory) +
                 " bytes of Global Memory");

  std::int64_t size = 0;
  const auto add = [&](const std::string& name, std::int64_t bytes, bool output) {
    launch.args.push_back({name, static_cast<std::uint64_t>(size), bytes, output});
    size += atc::round_up(bytes, kPage);
  };
  for (std::size_t i = 0; i < op.inputs.size(); ++i) add(op.inputs[i].name, bytes_of(call.inputs[i]), false);
  for (std::size_t i = 0; i < op.outputs.size(); ++i)
    add(op.outputs[i].name, bytes_of(call.outputs[i]), true);
  add("workspace", static_cast<std::int64_t>(launch.tiling.workspace_bytes), true);
  test.memory = std::make_shared<SharedMemory>(static_cast<std::size_t>(std::max(size, kPage)));
  for (std::size_t i = 0; i < launch.args.size(); ++i) {
    LaunchArg& arg = launch.args[i];
    std::byte* data = test.memory->data() + arg.address;
    const bool absent = arg.bytes == 0 && i < op.inputs.size() && !call.inputs[i].shape;
    arg.address = absent ? 0 : reinterpret_cast<std::uint64_t>(data);
    const auto bytes = static_cast<std::size_t>(arg.bytes);
    if (bytes > 0 && !arg.output) std::memcpy(data, inputs[i].data, bytes);
    if (arg.output && i + 1 < launch.args.size()) std::memset(data, kUnwritten, bytes);
  }
  HostOptions options;
  options.memory = {test.memory};
  options.threads = 0;
  Host host({{test.library->name(), test.library->bytes()}}, options);
  ATC_ASSIGN(LaunchStats stats, host.launch(launch));
  test.cycles = stats.cycles;
  if (profile != nullptr) {
    ATC_TRY(profile->add(op.type + " #" + std::to_string(combination), stats,
                         static_cast<int>(launch.tiling.block_dim)));
    std::fputs(profile->verdict().c_str(), stderr);
  }
  for (std::size_t i = 0; i < op.outputs.size(); ++i) {
    const TensorInfo& t = call.outputs[i];
    AtcUnitTensor& out = outputs[i];
    out.dtype = acl_dtype(t.dtype);
    out.rank = static_cast<std::int32_t>(t.shape->size());
    std::copy(t.shape->begin(), t.shape->end(), out.dims);
    const LaunchArg& arg = launch.args[op.inputs.size() + i];
    out.data = reinterpret_cast<void*>(arg.address);
    out.bytes = static_cast<std::uint64_t>(arg.bytes);
  }
  return {};
}

/// Nothing is thrown past the C interface.
template <class F>
Status guarded(const F& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fault("there is not enough memory for the test's tensors");
  }
}

bool told(const Status& status) {
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok();
}

}  // namespace

extern "C" {

AtcUnitTest* atc_unit_open(const char* library, const char* type) {
  std::unique_ptr<AtcUnitTest> test;
  const Status status = guarded([&]() -> Status {
    ATC_ASSIGN(test, open(library, type));
    return {};
  });
  return told(status) ? test.release() : nullptr;
}

void atc_unit_close(AtcUnitTest* test) { delete test; }

uint32_t atc_unit_combinations(const AtcUnitTest* test) { return test->info().combinations; }
uint32_t atc_unit_inputs(const AtcUnitTest* test) {
  return static_cast<uint32_t>(test->info().inputs.size());
}
uint32_t atc_unit_outputs(const AtcUnitTest* test) {
  return static_cast<uint32_t>(test->info().outputs.size());
}
const char* atc_unit_input_name(const AtcUnitTest* test, uint32_t input) {
  return input < atc_unit_inputs(test) ? test->info().inputs[input].name.c_str() : nullptr;
}
const char* atc_unit_output_name(const AtcUnitTest* test, uint32_t output) {
  return output < atc_unit_outputs(test) ? test->info().outputs[output].name.c_str() : nullptr;
}
int32_t atc_unit_input_dtype(const AtcUnitTest* test, uint32_t combination, uint32_t input) {
  if (input >= atc_unit_inputs(test) || combination >= test->info().combinations) return -1;
  return acl_dtype(test->info().inputs[input].dtypes[combination]);
}

int atc_unit_run(AtcUnitTest* test, uint32_t combination, const AtcUnitTensor* inputs,
                 const AtcCustomAttr* attrs, uint32_t attr_count, AtcUnitTensor* outputs) {
  return told(guarded([&] { return run(*test, combination, inputs, attrs, attr_count, outputs); })) ? 0 : 1;
}

int64_t atc_unit_cycles(const AtcUnitTest* test) { return test->cycles; }

}  // extern "C"
