#include "ascendc/instructions.h"
#include "ascendc/matrix_product.h"

// The functions of AtcCoreApi: from the handle to the block.
namespace atc::ascendc {
namespace {

Block& of(AtcBlock* b) { return static_cast<Block&>(*b); }
/// Of an instruction in the user's source.
Block& of(AtcBlock* block, const AtcSite* site) {
  Block& b = of(block);
  b.last_site = *site;
  return b;
}

void declare_type(AtcBlock* block, const AtcSite*, std::int32_t type) {
  Block& b = of(block);
  if (b.declared_type < 0) b.declared_type = type;
  if (b.probing) throw ProbeEnd();
}

void print(AtcBlock* b, const AtcSite*, const char* text) { of(b).printed += text; }

void fail(AtcBlock* b, const AtcSite* site, const char* text) {
  of(b).stop(*site, "assert", std::string("assertion failed: ") + text);
}

void mark(AtcBlock* block, const AtcSite*, std::int32_t what, std::int32_t id) {
  Block& b = of(block);
  b.begin_instruction();
  b.marks.push_back({id, what == ATC_MARK_BEGIN, b.core.free_at(Pipe::S)});
}

std::int64_t cycle(AtcBlock* b) { return of(b).core.free_at(Pipe::S); }

}  // namespace

const AtcCoreApi& core_api() {
  static const AtcCoreApi table = [] {
    AtcCoreApi t{};
    t.version = ATC_CORE_API_VERSION;
    t.struct_bytes = sizeof(AtcCoreApi);
    t.declare_type = declare_type;
    t.print = print;
    t.fail = fail;
    t.mark = mark;
    t.cycle = cycle;
    t.bind_global = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm) -> std::int32_t {
      return of(b, s).bind(*s, *gm);
    };
    t.init_buffer = [](AtcBlock* b, const AtcSite* s, const AtcBufferRequest* r) -> std::int32_t {
      return of(b, s).buffers.init(*s, *r);
    };
    t.reset_buffers = [](AtcBlock* b, const AtcSite*) { of(b).buffers.reset(); };
    t.buffer_get = [](AtcBlock* b, const AtcSite* s, std::int32_t id, AtcLocal* out) {
      of(b, s).buffers.get(*s, id, *out);
    };
    t.queue_alloc = [](AtcBlock* b, const AtcSite* s, std::int32_t id, AtcLocal* out) {
      of(b, s).begin_instruction();
      of(b).buffers.alloc(*s, id, *out);
    };
    t.queue_enque = [](AtcBlock* b, const AtcSite* s, std::int32_t id, const AtcLocal* tensor) {
      of(b, s).buffers.enque(*s, id, *tensor);
    };
    t.queue_deque = [](AtcBlock* b, const AtcSite* s, std::int32_t id, AtcLocal* out) {
      of(b, s).begin_instruction();
      of(b).buffers.deque(*s, id, *out);
    };
    t.queue_free = [](AtcBlock* b, const AtcSite* s, std::int32_t id, const AtcLocal* tensor) {
      of(b, s).buffers.free(*s, id, *tensor);
    };
    t.queue_query = [](AtcBlock* b, std::int32_t id, std::int32_t what) -> std::int32_t {
      return of(b).buffers.query(id, what);
    };
    t.queue_free_all = [](AtcBlock* b, const AtcSite* s, std::int32_t id) {
      of(b, s).buffers.free_all(*s, id);
    };
    t.load_local = [](AtcBlock* b, const AtcSite* s, const AtcLocal* tensor, std::uint64_t at,
                      std::uint32_t n) {
      return load_local(of(b, s), *s, *tensor, static_cast<std::int64_t>(at), n);
    };
    t.store_local = [](AtcBlock* b, const AtcSite* s, const AtcLocal* tensor, std::uint64_t at,
                       std::uint32_t n, std::uint64_t bits) {
      store_local(of(b, s), *s, *tensor, static_cast<std::int64_t>(at), n, bits);
    };
    t.load_global = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm, std::uint64_t at, std::uint32_t n) {
      return load_global(of(b, s), *s, *gm, static_cast<std::int64_t>(at), n);
    };
    t.store_global = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm, std::uint64_t at, std::uint32_t n,
                        std::uint64_t bits) {
      store_global(of(b, s), *s, *gm, static_cast<std::int64_t>(at), n, bits);
    };
    t.clean_cache = [](AtcBlock* b, const AtcSite*, const AtcGm* gm, std::int32_t whole) {
      of(b).begin_instruction();
      of(b).gm_log.clean(gm->data, whole != 0);
    };
    t.copy = [](AtcBlock* b, const AtcSite* s, const AtcCopy* c) { copy(of(b, s), *s, *c); };
    t.nd2nz = [](AtcBlock* b, const AtcSite* s, const AtcNd2Nz* c) { nd2nz(of(b, s), *s, *c); };
    t.set_atomic = [](AtcBlock* block, const AtcSite* s, std::int32_t atomic, std::int32_t type) {
      Block& b = of(block);
      b.begin_instruction();
      b.atomic = atomic;
      b.atomic_type = static_cast<std::uint8_t>(type);
      b.atomic_site = *s;
    };
    t.fill_global = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm, std::uint64_t n, std::int32_t type,
                       std::uint64_t bits) {
      fill_global(of(b, s), *s, *gm, n, static_cast<std::uint8_t>(type), bits);
    };
    t.set_mask = [](AtcBlock* b, const AtcSite*, std::uint64_t high, std::uint64_t low) {
      of(b).mask = {low, high};
    };
    t.set_mask_mode = [](AtcBlock* b, const AtcSite* s, std::int32_t mode) {
      of(b, s).mask_counter = mode == ATC_MASK_COUNTER;
      of(b).mask_site = *s;
    };
    t.set_deq_scale = [](AtcBlock* b, const AtcSite*, float scale) { of(b).deq_scale = scale; };
    t.vector = [](AtcBlock* b, const AtcSite* s, const AtcVector* v) { vector(of(b, s), *s, *v); };
    t.gather = [](AtcBlock* b, const AtcSite* s, const AtcGather* g) { gather(of(b, s), *s, *g); };
    t.gather_mask = [](AtcBlock* b, const AtcSite* s, const AtcGatherMask* g) {
      return gather_mask(of(b, s), *s, *g);
    };
    t.set_compare_mask = [](AtcBlock* block, const AtcSite* s, const AtcLocal* from) {
      Block& b = of(block);
      for (std::size_t i = 0; i < 2; ++i)
        b.compare_mask[i] = load_local(b, *s, *from, static_cast<std::int64_t>(i) * 8, 8);
    };
    t.get_compare_mask = [](AtcBlock* block, const AtcSite* s, const AtcLocal* to) {
      Block& b = of(block);
      for (std::size_t i = 0; i < 2; ++i)
        store_local(b, *s, *to, static_cast<std::int64_t>(i) * 8, 8, b.compare_mask[i]);
    };
    t.sort32 = [](AtcBlock* b, const AtcSite* s, const AtcSort32* v) { sort32(of(b, s), *s, *v); };
    t.merge_sort = [](AtcBlock* b, const AtcSite* s, const AtcMergeSort* m) { merge_sort(of(b, s), *s, *m); };
    t.trans_data = [](AtcBlock* b, const AtcSite* s, const AtcTransData* v) { trans_data(of(b, s), *s, *v); };
    t.reduce_result = [](AtcBlock* b, const AtcSite*, std::uint64_t* value, std::uint64_t* index) {
      *value = of(b).reduce_value;
      *index = of(b).reduce_index;
    };
    t.load2d = [](AtcBlock* b, const AtcSite* s, const AtcLoad2d* l) { load2d(of(b, s), *s, *l); };
    t.load3d = [](AtcBlock* b, const AtcSite* s, const AtcLoad3d* l) { load3d(of(b, s), *s, *l); };
    t.init_const = [](AtcBlock* b, const AtcSite* s, const AtcInitConst* c) { init_const(of(b, s), *s, *c); };
    t.mmad = [](AtcBlock* b, const AtcSite* s, const AtcMmad* m) { mmad(of(b, s), *s, *m); };
    t.fixpipe = [](AtcBlock* b, const AtcSite* s, const AtcFixpipe* f) { fixpipe(of(b, s), *s, *f); };
    t.set_flag = [](AtcBlock* b, const AtcSite* s, std::int32_t from, std::int32_t to, std::int32_t e) {
      set_flag(of(b, s), *s, from, to, e);
    };
    t.wait_flag = [](AtcBlock* b, const AtcSite* s, std::int32_t from, std::int32_t to, std::int32_t e) {
      wait_flag(of(b, s), *s, from, to, e);
    };
    t.barrier = [](AtcBlock* b, const AtcSite* s, std::int32_t pipe) { barrier(of(b, s), *s, pipe); };
    t.fetch_event = [](AtcBlock* b, const AtcSite* s, std::int32_t from, std::int32_t to,
                       std::int32_t reserve) -> std::int32_t {
      return fetch_event(of(b, s), *s, from, to, reserve != 0);
    };
    t.release_event = [](AtcBlock* b, const AtcSite* s, std::int32_t from, std::int32_t to, std::int32_t e) {
      release_event(of(b, s), *s, from, to, e);
    };
    t.cross_set = [](AtcBlock* b, const AtcSite* s, std::int32_t mode, std::int32_t pipe, std::int32_t flag) {
      cross_set(of(b, s), *s, mode, pipe, flag);
    };
    t.cross_wait = [](AtcBlock* b, const AtcSite* s, std::int32_t flag) { cross_wait(of(b, s), *s, flag); };
    t.sync_all = [](AtcBlock* b, const AtcSite* s, std::int32_t all) { sync_all(of(b, s), *s, all); };
    t.matmul_register = [](AtcBlock* b, const AtcSite* s, std::int32_t cube_only, void* workspace) {
      return static_cast<std::int32_t>(matmul_register(of(b, s), *s, cube_only != 0, workspace));
    };
    t.matmul_serve = [](AtcBlock* b, const AtcSite* s) { matmul_serve(of(b, s), *s); };
    t.matmul = [](AtcBlock* b, const AtcSite* s, const AtcMatmul* m) { return matmul(of(b, s), *s, *m); };
    t.matmul_wait = [](AtcBlock* b, const AtcSite* s, std::int64_t ticket) {
      matmul_wait(of(b, s), *s, ticket);
    };
    t.set_hf32 = [](AtcBlock* b, const AtcSite*, std::int32_t mode) { of(b).hf32 = mode; };
    t.rows = [](AtcBlock* b, const AtcSite* s, const AtcRows* r) { rows(of(b, s), *s, *r); };
    t.init_pool = [](AtcBlock* b, const AtcSite* s, std::int32_t position, std::uint64_t bytes,
                     std::int32_t shared) -> std::int32_t {
      return of(b, s).buffers.init_pool(*s, static_cast<Position>(position), static_cast<std::int64_t>(bytes),
                                        shared);
    };
    t.init_buffer_in = [](AtcBlock* b, const AtcSite* s, std::int32_t pool,
                          const AtcBufferRequest* r) -> std::int32_t {
      if (pool < 0)
        of(b, s).stop(*s, "queue-state",
                      "a TBufPool is used that InitBufPool has not set up (or after Reset)");
      return of(b).buffers.init(*s, *r, pool);
    };
    t.reset_pool = [](AtcBlock* b, const AtcSite* s, std::int32_t pool) {
      of(b, s).buffers.reset_pool(*s, pool);
    };
    t.block_flag_set = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm, std::int32_t block,
                          std::int32_t event) { block_flag_set(of(b, s), *s, *gm, block, event); };
    t.block_flag_wait = [](AtcBlock* b, const AtcSite* s, const AtcGm* gm, std::int32_t block,
                           std::int32_t event) { block_flag_wait(of(b, s), *s, *gm, block, event); };
    return t;
  }();
  return table;
}

}  // namespace atc::ascendc
