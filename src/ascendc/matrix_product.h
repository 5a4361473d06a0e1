#pragma once

#include <deque>
#include <optional>

#include "ascendc/core_block.h"

// Products of whole matrices, behind the Matmul object.
namespace atc::ascendc {

/// Computes the product on a core with a cube unit: loads, products and the way out, tile by tile.
void run_matmul(Block& b, const AtcSite& site, const AtcMatmul& m);

/// The part that a core has in the Matmul object.
enum class MatmulRole : std::int32_t {
  None,    ///< a vector core of a kernel whose cube cores compute alone
  Own,     ///< has a cube unit
  Client,  ///< a vector core: its partner computes
  Server,  ///< a cube core that computes for its vector cores
};

/// product_service.cc: the functions of AtcCoreApi.
MatmulRole matmul_register(Block& b, const AtcSite& site, bool cube_only, void* workspace);
void matmul_serve(Block& b, const AtcSite& site);
std::int64_t matmul(Block& b, const AtcSite& site, const AtcMatmul& m);
void matmul_wait(Block& b, const AtcSite& site, std::int64_t ticket);

/// What a vector core has asked its partner for. The queue is read and written by the owner while it runs,
/// by the partner between the rounds of the group only, when nobody runs.
struct MatmulRequests {
  struct Request {
    AtcMatmul product{};
    AtcSite site{};
    Cycle at = 0;
    GmLog::Clock known;  ///< by the client, then by the server
    bool done = false;
    /// Where the result goes on from Global Memory.
    AtcMatrix target{};
    std::int64_t target_bytes = 0;
  };
  std::deque<Request> list;
  std::size_t begun = 0;     ///< requests before this one are the server's
  std::size_t finished = 0;  ///< requests before this one have been waited for
  std::byte* workspace = nullptr;
  std::int64_t workspace_bytes = 0, workspace_used = 0;
  bool registered = false, closed = false;
};

}  // namespace atc::ascendc
