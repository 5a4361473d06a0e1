#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "om/info.h"
#include "om/json_dump.h"
#include "om/reader.h"

/// Any bytes load or are refused with E10041; nothing throws, nothing reads out of bounds.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = atc::Bytes::copy_of(std::as_bytes(std::span(data, size)));
  const auto loaded = atc::om::load_om(file);
  if (!loaded.ok() && loaded.status().diagnostic().code != "E10041") std::abort();
  (void)atc::om::dump_json(file).ok();
  (void)atc::om::display_info(file).ok();
  return 0;
}
