#pragma once

// The runtime part of AscendCL on one simulated device. Kernels run to their end when they are launched, so
// streams are in order by that, and what is asynchronous is done at once.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "atc/host_launch.h"

enum aclrtRunMode { ACL_DEVICE, ACL_HOST };
enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
  ACL_MEMCPY_DEFAULT,
};
enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P,
};
enum aclrtMemAttr { ACL_DDR_MEM, ACL_HBM_MEM };

namespace atc_acl {

struct State {
  bool initialised = false, finalised = false, device = false;
  int context_mark = 0;  ///< its address is the device's own context
  aclrtContext context = nullptr;
  std::set<void*> contexts, streams, host;
  std::set<double*> events;  ///< microseconds of the device
  int errors = 0;            ///< of launches that a synchronisation has told of
  std::string message, told;
};
inline State& state() {
  static State s;
  return s;
}

inline aclError fail(aclError code, std::string text) {
  state().message += (state().message.empty() ? "" : "\n") + std::move(text);
  return code;
}
inline aclError need_device(const char* function) {
  if (state().device) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_CONTEXT_NULL, std::string(function) + ": aclrtSetDevice comes first");
}
inline bool knows_stream(aclrtStream stream) {
  return stream == nullptr || state().streams.count(stream) != 0;
}
inline aclError bad_stream(const char* function) {
  return fail(ACL_ERROR_RT_INVALID_HANDLE, std::string(function) + ": this stream does not exist");
}
/// What launches since the last synchronisation did wrong.
inline aclError settle() {
  const int before = state().errors;
  state().errors = atc_host_errors();
  if (state().errors == before) return ACL_SUCCESS;
  return fail(ACL_ERROR_RT_AICORE_EXCEPTION, atc_host_error_text());
}

}  // namespace atc_acl

/// The text of the errors since the last call; null when there were none. Valid until the next call.
inline const char* aclGetRecentErrMsg() {
  atc_acl::State& s = atc_acl::state();
  s.told = std::exchange(s.message, std::string());
  return s.told.empty() ? nullptr : s.told.c_str();
}

inline aclError aclInit(const char* config) {
  atc_acl::State& s = atc_acl::state();
  if (s.initialised) return atc_acl::fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit: called twice");
  if (config != nullptr && *config != '\0') {
    std::FILE* file = std::fopen(config, "rb");
    if (file == nullptr)
      return atc_acl::fail(ACL_ERROR_INVALID_FILE, std::string("aclInit: no file ") + config);
    std::fclose(file);
  }
  s.initialised = true;
  return ACL_SUCCESS;
}
inline aclError aclFinalize() {
  atc_acl::State& s = atc_acl::state();
  if (!s.initialised)
    return atc_acl::fail(s.finalised ? ACL_ERROR_REPEAT_FINALIZE : ACL_ERROR_UNINITIALIZE,
                         s.finalised ? "aclFinalize: called twice" : "aclFinalize: aclInit was not called");
  s.initialised = false;
  s.finalised = true;
  return ACL_SUCCESS;
}

// ---- Device and context ----
inline aclError aclrtGetDeviceCount(std::uint32_t* count) {
  *count = 1;
  return ACL_SUCCESS;
}
inline aclError aclrtSetDevice(std::int32_t device) {
  atc_acl::State& s = atc_acl::state();
  if (device != 0)
    return atc_acl::fail(ACL_ERROR_RT_INVALID_DEVICEID,
                         "aclrtSetDevice: there is one device, 0, not " + std::to_string(device));
  s.device = true;
  if (s.context == nullptr) s.context = &s.context_mark;
  return ACL_SUCCESS;
}
inline aclError aclrtGetDevice(std::int32_t* device) {
  *device = 0;
  return atc_acl::need_device("aclrtGetDevice");
}
inline aclError aclrtResetDevice(std::int32_t device) {
  if (device != 0)
    return atc_acl::fail(ACL_ERROR_RT_INVALID_DEVICEID, "aclrtResetDevice: there is one device, 0");
  const aclError error = atc_acl::settle();
  atc_acl::state().device = false;
  atc_acl::state().context = nullptr;
  return error;
}
/// The program runs on the host.
inline aclError aclrtGetRunMode(aclrtRunMode* mode) {
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}
inline const char* aclrtGetSocName() { return atc_host_soc(); }
inline aclError aclrtCreateContext(aclrtContext* context, std::int32_t device) {
  if (const aclError error = aclrtSetDevice(device); error != ACL_SUCCESS) return error;
  *context = new char;
  atc_acl::state().contexts.insert(*context);
  atc_acl::state().context = *context;
  return ACL_SUCCESS;
}
inline aclError aclrtDestroyContext(aclrtContext context) {
  atc_acl::State& s = atc_acl::state();
  if (s.contexts.erase(context) == 0)
    return atc_acl::fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtDestroyContext: this context does not exist");
  delete static_cast<char*>(context);
  if (s.context == context) s.context = &s.context_mark;
  return ACL_SUCCESS;
}
inline aclError aclrtSetCurrentContext(aclrtContext context) {
  atc_acl::State& s = atc_acl::state();
  if (context != &s.context_mark && s.contexts.count(context) == 0)
    return atc_acl::fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtSetCurrentContext: this context does not exist");
  s.context = context;
  return ACL_SUCCESS;
}
inline aclError aclrtGetCurrentContext(aclrtContext* context) {
  *context = atc_acl::state().context;
  return atc_acl::need_device("aclrtGetCurrentContext");
}

// ---- Streams ----
inline aclError aclrtCreateStream(aclrtStream* stream) {
  if (const aclError error = atc_acl::need_device("aclrtCreateStream"); error != ACL_SUCCESS) return error;
  *stream = new char;
  atc_acl::state().streams.insert(*stream);
  return ACL_SUCCESS;
}
inline aclError aclrtDestroyStream(aclrtStream stream) {
  if (atc_acl::state().streams.erase(stream) == 0) return atc_acl::bad_stream("aclrtDestroyStream");
  delete static_cast<char*>(stream);
  return ACL_SUCCESS;
}
/// ACL_ERROR_RT_AICORE_EXCEPTION when a kernel since the last synchronisation did something wrong;
/// aclGetRecentErrMsg has the diagnostics.
inline aclError aclrtSynchronizeStream(aclrtStream stream) {
  if (!atc_acl::knows_stream(stream)) return atc_acl::bad_stream("aclrtSynchronizeStream");
  return atc_acl::settle();
}
inline aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, std::int32_t) {
  return aclrtSynchronizeStream(stream);
}
inline aclError aclrtSynchronizeDevice() {
  if (const aclError error = atc_acl::need_device("aclrtSynchronizeDevice"); error != ACL_SUCCESS)
    return error;
  return atc_acl::settle();
}

// ---- Memory ----
/// Global Memory, 64 bytes aligned; its content is undefined (zeros).
inline aclError aclrtMalloc(void** data, std::size_t bytes, aclrtMemMallocPolicy) {
  if (data == nullptr || bytes == 0)
    return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMalloc: no pointer, or 0 bytes");
  if (const aclError error = atc_acl::need_device("aclrtMalloc"); error != ACL_SUCCESS) return error;
  std::size_t used = 0, total = 0;
  atc_gm_usage(&used, &total);
  *data = bytes > total - used ? nullptr : atc_gm_alloc(bytes);
  if (*data != nullptr) return ACL_SUCCESS;
  return atc_acl::fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtMalloc: " + std::to_string(bytes) + " bytes, " +
                                                           std::to_string(total - used) + " are free");
}
inline aclError aclrtFree(void* data) {
  if (data != nullptr && atc_gm_free(data) == 0) return ACL_SUCCESS;
  return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtFree: no memory of aclrtMalloc, or free already");
}
inline aclError aclrtMallocHost(void** data, std::size_t bytes) {
  if (data == nullptr || bytes == 0)
    return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMallocHost: no pointer, or 0 bytes");
  *data = std::calloc(bytes, 1);
  if (*data == nullptr) return atc_acl::fail(ACL_ERROR_BAD_ALLOC, "aclrtMallocHost: no memory");
  atc_acl::state().host.insert(*data);
  return ACL_SUCCESS;
}
inline aclError aclrtFreeHost(void* data) {
  if (atc_acl::state().host.erase(data) == 0)
    return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclrtFreeHost: no memory of aclrtMallocHost, or free already");
  std::free(data);
  return ACL_SUCCESS;
}
inline aclError aclrtGetMemInfo(aclrtMemAttr, std::size_t* free, std::size_t* total) {
  std::size_t used = 0;
  atc_gm_usage(&used, total);
  *free = *total - used;
  return ACL_SUCCESS;
}
inline aclError aclrtMemset(void* data, std::size_t capacity, std::int32_t value, std::size_t bytes) {
  if (data == nullptr || bytes > capacity || atc_gm_reach(data) < bytes)
    return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclrtMemset: " + std::to_string(bytes) + " bytes do not fit there");
  std::memset(data, value, bytes);
  return ACL_SUCCESS;
}
inline aclError aclrtMemsetAsync(void* data, std::size_t capacity, std::int32_t value, std::size_t bytes,
                                 aclrtStream stream) {
  if (!atc_acl::knows_stream(stream)) return atc_acl::bad_stream("aclrtMemsetAsync");
  return aclrtMemset(data, capacity, value, bytes);
}
/// Refuses what does not fit, and a kind that is not that of the addresses.
inline aclError aclrtMemcpy(void* to, std::size_t capacity, const void* from, std::size_t bytes,
                            aclrtMemcpyKind kind) {
  const auto refused = [](const std::string& why) {
    return atc_acl::fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtMemcpy: " + why);
  };
  if (bytes == 0) return ACL_SUCCESS;
  if (to == nullptr || from == nullptr) return refused("an address is null");
  if (bytes > capacity) return refused(std::to_string(bytes) + " bytes into " + std::to_string(capacity));
  // Bytes from the address to the end of its allocation; 0: no Global Memory.
  const std::size_t to_reach = atc_gm_reach(to), from_reach = atc_gm_reach(from);
  const bool to_device = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  const bool from_device = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
  if (kind != ACL_MEMCPY_DEFAULT && to_device != (to_reach > 0))
    return refused(std::string("the destination is ") + (to_reach > 0 ? "" : "no ") +
                   "memory of the device, the kind of the copy says otherwise");
  if (kind != ACL_MEMCPY_DEFAULT && from_device != (from_reach > 0))
    return refused(std::string("the source is ") + (from_reach > 0 ? "" : "no ") +
                   "memory of the device, the kind of the copy says otherwise");
  if (to_reach > 0 && bytes > to_reach)
    return refused(std::to_string(bytes) + " bytes, the destination has " + std::to_string(to_reach));
  if (from_reach > 0 && bytes > from_reach)
    return refused(std::to_string(bytes) + " bytes, the source has " + std::to_string(from_reach));
  std::memmove(to, from, bytes);
  return ACL_SUCCESS;
}
inline aclError aclrtMemcpyAsync(void* to, std::size_t capacity, const void* from, std::size_t bytes,
                                 aclrtMemcpyKind kind, aclrtStream stream) {
  if (!atc_acl::knows_stream(stream)) return atc_acl::bad_stream("aclrtMemcpyAsync");
  return aclrtMemcpy(to, capacity, from, bytes, kind);
}

// ---- Events: simulated time of the kernels, from the first event on ----
inline aclError aclrtCreateEvent(aclrtEvent* event) {
  if (const aclError error = atc_acl::need_device("aclrtCreateEvent"); error != ACL_SUCCESS) return error;
  atc_host_measure();
  auto* const at = new double(-1);
  atc_acl::state().events.insert(at);
  *event = at;
  return ACL_SUCCESS;
}
namespace atc_acl {
inline double* event_of(aclrtEvent event) {
  auto* const at = static_cast<double*>(event);
  return state().events.count(at) == 0 ? nullptr : at;
}
inline aclError bad_event(const char* function) {
  return fail(ACL_ERROR_RT_INVALID_HANDLE,
              std::string(function) + ": an event does not exist, or was not recorded");
}
}  // namespace atc_acl
inline aclError aclrtDestroyEvent(aclrtEvent event) {
  double* const at = atc_acl::event_of(event);
  if (at == nullptr) return atc_acl::bad_event("aclrtDestroyEvent");
  atc_acl::state().events.erase(at);
  delete at;
  return ACL_SUCCESS;
}
inline aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  double* const at = atc_acl::event_of(event);
  if (at == nullptr) return atc_acl::bad_event("aclrtRecordEvent");
  if (!atc_acl::knows_stream(stream)) return atc_acl::bad_stream("aclrtRecordEvent");
  *at = atc_host_us();
  return ACL_SUCCESS;
}
inline aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return atc_acl::event_of(event) == nullptr ? atc_acl::bad_event("aclrtSynchronizeEvent")
                                             : atc_acl::settle();
}
inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  if (atc_acl::event_of(event) == nullptr) return atc_acl::bad_event("aclrtStreamWaitEvent");
  return atc_acl::knows_stream(stream) ? ACL_SUCCESS : atc_acl::bad_stream("aclrtStreamWaitEvent");
}
/// Milliseconds that the kernels between the two took on the simulated chip; copies take no time.
inline aclError aclrtEventElapsedTime(float* milliseconds, aclrtEvent start, aclrtEvent end) {
  const double *from = atc_acl::event_of(start), *to = atc_acl::event_of(end);
  if (from == nullptr || to == nullptr || *from < 0 || *to < 0)
    return atc_acl::bad_event("aclrtEventElapsedTime");
  *milliseconds = static_cast<float>((*to - *from) / 1000);
  return ACL_SUCCESS;
}
