#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "atc/base/status.h"
#include "custom/launch.h"
#include "custom/wire.h"

namespace atc::custom {

/// What the tool asks the child that holds its libraries. Fields that a kind does not use stay empty.
struct Request {
  enum class Kind : std::uint32_t { Infer, Tile, Parse, Launch };
  Kind kind = Kind::Infer;
  std::uint32_t library = 0;
  std::uint32_t combination = 0;  ///< Infer
  Call call;                      ///< Infer, Tile, Parse
  std::string soc_version;        ///< Tile
  Launch launch;                  ///< Launch
};

struct Response {
  std::string code, message, solution;  ///< of the Status; no code: all went well
  std::vector<std::string> notes;
  LibraryInfo info;                 ///< of a library that was loaded
  std::vector<TensorInfo> outputs;  ///< Infer
  std::vector<AttrValue> attrs;     ///< Parse
  Tiling tiling;                    ///< Tile
  LaunchStats stats;                ///< Launch
};

template <class A>
void io(A& a, Request& v) {
  a(v.kind), a(v.library), a(v.combination), io(a, v.call), a(v.soc_version), io(a, v.launch);
}
template <class A>
void io(A& a, Response& v) {
  a(v.code), a(v.message), a(v.solution), a(v.notes), io(a, v.info), a(v.outputs), a(v.attrs),
      io(a, v.tiling), io(a, v.stats);
}

void set_status(Response& response, const Status& status);
Status status_of(const Response& response);

/// One message with its length; false when the other side is gone.
bool send_message(int fd, const std::string& message);
enum class Received { Message, Closed, TimedOut };
/// `milliseconds` < 0: waits for ever. A length beyond all reason counts as Closed.
Received receive_message(int fd, std::string& message, int milliseconds);

}  // namespace atc::custom
