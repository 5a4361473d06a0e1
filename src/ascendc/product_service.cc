#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "aicore/block_group.h"
#include "ascendc/instructions.h"
#include "ascendc/matrix_product.h"
#include "atc/base/math.h"

// Vector cores have their partner multiply: requests go to it, one after the other by the time at which they
// were made, and what is in a vector core's own memory passes through Global Memory.
namespace atc::ascendc {
namespace {

constexpr const char* kWhat = "the Matmul object";

/// The cores of this one's block, by kind.
template <class Visit>
void each_of_team(const Block& b, bool cubes, Visit&& visit) {
  const aicore::BlockPlace own = b.team.places[static_cast<std::size_t>(b.number)];
  for (std::size_t i = 0; i < b.team.places.size(); ++i)
    if (b.team.places[i].team == own.team && b.team.places[i].cube == cubes) visit(i);
}
int count_of_team(const Block& b, bool cubes) {
  int n = 0;
  each_of_team(b, cubes, [&](std::size_t) { ++n; });
  return n;
}

void go_on(Block& b, const char* what, Cycle at) {
  if (b.core.timing()) b.core.book(Pipe::S, 1, what, 0, at);
  b.pipes.release_all(b.core.free_at(Pipe::S));
}

/// The vector core whose request comes next: the earliest, of the lowest core. Null: there is none now.
MatmulRequests* next_client(const Block& b, bool& open) {
  MatmulRequests* first = nullptr;
  open = false;
  each_of_team(b, false, [&](std::size_t i) {
    Block* client = b.team.blocks[i];
    if (client == nullptr) {  // has not begun
      open = true;
      return;
    }
    MatmulRequests& q = client->requests();
    open = open || !q.closed;
    if (q.begun < q.list.size() && (first == nullptr || q.list[q.begun].at < first->list[first->begun].at))
      first = &q;
  });
  return first;
}

std::int64_t stored_rows(const AtcMatrix& x, std::int64_t rows, std::int64_t cols) {
  return x.transpose != 0 ? cols : rows;
}
std::int64_t stored_cols(const AtcMatrix& x, std::int64_t rows, std::int64_t cols) {
  return x.transpose != 0 ? rows : cols;
}
std::int64_t stored_bytes(const AtcMatrix& x, std::int64_t rows, std::int64_t cols) {
  const std::int64_t size = bits_of(x.type) / 8;
  if (x.format == ATC_MATRIX_NZ) return ceil_div(cols, 32 / size) * x.pitch * 32;
  return ((rows - 1) * x.pitch + cols) * size;
}

/// Room in the client's part of the workspace.
AtcGm room(Block& b, const AtcSite& site, std::int64_t bytes) {
  MatmulRequests& q = b.requests();
  if (q.finished == q.list.size()) q.workspace_used = 0;
  const std::int64_t at = q.workspace_used;
  if (q.workspace == nullptr || at + bytes > q.workspace_bytes)
    b.stop(site, "matmul-workspace",
           std::string(kWhat) + " passes tensors of the Unified Buffer through the workspace: " +
               std::to_string(at + bytes) + " bytes are needed, " +
               (q.workspace == nullptr ? std::string("REGIST_MATMUL_OBJ was given none")
                                       : "this core's part has " + std::to_string(q.workspace_bytes)) +
               ". Give GetSysWorkSpacePtr() to REGIST_MATMUL_OBJ and wait for earlier products");
  q.workspace_used = round_up(at + bytes, std::int64_t{512});
  return {q.workspace + at, bytes, -1};
}

void copy_rows(Block& b, const AtcSite& site, const AtcCopyEnd& dst, const AtcCopyEnd& src, std::uint8_t type,
               std::int64_t rows, std::int64_t bytes, std::int64_t dst_gap) {
  AtcCopy c{};
  c.dst = dst;
  c.src = src;
  c.form = bytes % 32 == 0 ? ATC_COPY_BLOCKS : ATC_COPY_PAD;
  c.type = type;
  c.block_count = static_cast<std::uint32_t>(rows);
  c.block_bytes = bytes;
  c.dst_gap = dst_gap;
  copy(b, site, c);
}

/// An operand of the client's own memory goes to Global Memory, where the partner reads it.
void stage(Block& b, const AtcSite& site, AtcMatrix& x, std::int64_t rows, std::int64_t cols) {
  if (x.at.is_gm != 0) return;
  if (x.at.local.memory != ATC_UB)
    b.stop(site, "unsupported",
           std::string(kWhat) + ": an operand in " + std::string(memory_name(x.at.local.memory)) +
               " of a vector core; it may be in Global Memory or in the Unified Buffer");
  const std::int64_t bytes = stored_bytes(x, stored_rows(x, rows, cols), stored_cols(x, rows, cols));
  const AtcGm gm = room(b, site, bytes);
  b.pipes.barrier_all();
  copy_rows(b, site, {1, {}, gm}, x.at, x.type, 1, bytes, 0);
  b.pipes.barrier_all();
  x.at = {1, {}, gm};
}

}  // namespace

MatmulRole matmul_register(Block& b, const AtcSite& site, bool cube_only, void* workspace) {
  if (b.probing) {
    if (b.declared_type < 0) b.declared_type = cube_only ? ATC_KERNEL_AIC_ONLY : ATC_KERNEL_MIX_AIC_1_2;
    throw ProbeEnd();
  }
  const bool alone = b.is_vector != 0 || cube_only || count_of_team(b, false) == 0;
  if (b.is_cube != 0 && alone) return MatmulRole::Own;
  if (cube_only) return MatmulRole::None;
  if (count_of_team(b, true) == 0)
    b.stop(site, "unit",
           std::string(kWhat) +
               " needs a cube core beside the vector core: declare KERNEL_TYPE_MIX_AIC_1_2 or "
               "KERNEL_TYPE_MIX_AIC_1_1 with KERNEL_TASK_TYPE_DEFAULT");
  if (!b.team.together)
    b.stop(site, "sync-all", std::string(kWhat) + " would never return: " + b.team.why_no_sync);
  if (b.is_cube != 0) return MatmulRole::Server;
  MatmulRequests& q = b.requests();
  if (q.registered) return MatmulRole::Client;
  q.registered = true;
  if (workspace == nullptr) return MatmulRole::Client;
  // Each vector core has its part.
  const GmRange* range = b.team.memory->find(workspace);
  if (range == nullptr)
    b.stop(site, "gm-bounds", "REGIST_MATMUL_OBJ: the workspace is in no argument of the kernel");
  const bool system = workspace == b.system_workspace;
  const std::int64_t all = std::min(range->bytes - (static_cast<std::byte*>(workspace) - range->data),
                                    system ? b.system_workspace_bytes : std::int64_t{1} << 40);
  const auto vectors = static_cast<std::int64_t>(
      std::count_if(b.team.places.begin(), b.team.places.end(), [](const auto& p) { return !p.cube; }));
  q.workspace_bytes = all / std::max<std::int64_t>(vectors, 1) / 512 * 512;
  q.workspace = static_cast<std::byte*>(workspace) + q.workspace_bytes * b.block_idx;
  return MatmulRole::Client;
}

void matmul_serve(Block& b, const AtcSite& site) {
  for (;;) {
    MatmulRequests::Request* request = nullptr;
    b.waiting_at = site;
    const Cycle now = b.core.free_at(Pipe::S);
    const Cycle at = b.team.group->wait_until(
        b.number,
        [&]() -> std::optional<Cycle> {
          bool open = false;
          MatmulRequests* const client = next_client(b, open);
          if (client == nullptr) return open ? std::nullopt : std::optional<Cycle>(now);
          // The client may ask for more meanwhile: its list grows at the end, this element stays.
          request = &client->list[client->begun++];
          return std::max(now, request->at);
        },
        "products that its vector cores ask for");
    b.waiting_at = {};
    if (request == nullptr) return;
    go_on(b, "MatmulRequest", at);
    if (b.checks) b.gm_log.receive(request->known);
    run_matmul(b, request->site, request->product);
    b.pipes.barrier_all();
    request->at = b.core.free_at(Pipe::FIX);
    if (b.checks) request->known = b.gm_log.send(b.number);
    request->done = true;
  }
}

std::int64_t matmul(Block& b, const AtcSite& site, const AtcMatmul& m) {
  b.begin_instruction();
  if (b.is_cube != 0) {
    run_matmul(b, site, m);
    return -1;
  }
  MatmulRequests& q = b.requests();
  if (!q.registered) b.stop(site, "unit", std::string(kWhat) + " is used before REGIST_MATMUL_OBJ");
  if (m.m <= 0 || m.n <= 0 || m.k <= 0) return -1;
  MatmulRequests::Request r;
  r.product = m;
  r.site = site;
  stage(b, site, r.product.a, m.m, m.k);
  stage(b, site, r.product.b, m.k, m.n);
  if (m.bias.is_gm == 0 && m.bias.local.bytes != 0) {
    AtcMatrix bias{m.bias, m.bias_type, ATC_MATRIX_ND, 0, m.n};
    stage(b, site, bias, 1, m.n);
    r.product.bias = bias.at;
  }
  if (m.c.at.is_gm == 0) {
    r.target = m.c;
    const std::int64_t size = bits_of(m.c.type) / 8, width = size == 1 ? 32 : 16;
    const bool nd = m.c.format == ATC_MATRIX_ND;
    if (nd && m.c.pitch != m.n && (m.c.pitch * size % 32 != 0 || m.m > 4095))
      b.stop(site, "unsupported",
             std::string(kWhat) + ": rows of " + std::to_string(m.c.pitch) +
                 " elements of a result in the Unified Buffer are no multiple of 32 bytes");
    // On the way rows follow each other.
    if (nd) r.product.c.pitch = m.n;
    r.target_bytes = nd ? m.m * m.n * size : ceil_div(m.n, width) * m.c.pitch * width * size;
    r.product.c.at = {1, {}, room(b, site, r.target_bytes)};
  }
  // The partner reads what this core's copies have written.
  b.pipes.barrier_all();
  r.at = b.core.free_at(Pipe::S);
  if (b.checks) r.known = b.gm_log.send(b.number);
  q.list.push_back(std::move(r));
  return static_cast<std::int64_t>(q.list.size()) - 1;
}

void matmul_wait(Block& b, const AtcSite& site, std::int64_t ticket) {
  b.begin_instruction();
  MatmulRequests& q = b.requests();
  if (ticket < 0 || ticket >= static_cast<std::int64_t>(q.list.size())) return;
  MatmulRequests::Request& r = q.list[static_cast<std::size_t>(ticket)];
  b.waiting_at = site;
  const Cycle at = b.team.group->wait_until(
      b.number, [&]() -> std::optional<Cycle> { return r.done ? std::optional<Cycle>(r.at) : std::nullopt; },
      "a product of its cube core, which is in no REGIST_MATMUL_OBJ");
  b.waiting_at = {};
  go_on(b, "WaitMatmul", at);
  if (b.checks) b.gm_log.receive(r.known);
  if (r.target_bytes != 0) {
    const std::int64_t size = bits_of(r.target.type) / 8, row = r.product.n * size;
    if (r.target.format == ATC_MATRIX_ND && r.target.pitch != r.product.n)
      copy_rows(b, site, r.target.at, r.product.c.at, r.target.type, r.product.m, row,
                r.target.pitch * size - round_up(row, std::int64_t{32}));
    else
      copy_rows(b, site, r.target.at, r.product.c.at, r.target.type, 1, r.target_bytes, 0);
    b.pipes.barrier_all();
  }
  q.finished = std::max(q.finished, static_cast<std::size_t>(ticket) + 1);
}

}  // namespace atc::ascendc
