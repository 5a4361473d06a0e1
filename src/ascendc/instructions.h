#pragma once

#include "ascendc/core_block.h"

// The instructions of AtcCoreApi over a block: checks, values, time.
namespace atc::ascendc {

// memory_ops.cc
void copy(Block& b, const AtcSite& site, const AtcCopy& c);
void nd2nz(Block& b, const AtcSite& site, const AtcNd2Nz& c);
void fill_global(Block& b, const AtcSite& site, const AtcGm& gm, std::uint64_t elements, std::uint8_t type,
                 std::uint64_t bits);
std::uint64_t load_local(Block& b, const AtcSite& site, const AtcLocal& t, std::int64_t offset,
                         std::int64_t n);
void store_local(Block& b, const AtcSite& site, const AtcLocal& t, std::int64_t offset, std::int64_t n,
                 std::uint64_t bits);
std::uint64_t load_global(Block& b, const AtcSite& site, const AtcGm& gm, std::int64_t offset,
                          std::int64_t n);
void store_global(Block& b, const AtcSite& site, const AtcGm& gm, std::int64_t offset, std::int64_t n,
                  std::uint64_t bits);
/// dst = dst op src, element by element, as the atomic modes of MTE3 and FIX do.
void combine(int atomic, std::uint8_t type, std::byte* dst, const std::byte* src, std::int64_t elements);

// Vector unit
void vector(Block& b, const AtcSite& site, const AtcVector& v);
void reduce(Block& b, const AtcSite& site, const AtcVector& v);
void compare(Block& b, const AtcSite& site, const AtcVector& v);
void select(Block& b, const AtcSite& site, const AtcVector& v);
void gather(Block& b, const AtcSite& site, const AtcGather& g);
std::uint64_t gather_mask(Block& b, const AtcSite& site, const AtcGatherMask& g);
void sort32(Block& b, const AtcSite& site, const AtcSort32& s);
void merge_sort(Block& b, const AtcSite& site, const AtcMergeSort& m);
void trans_data(Block& b, const AtcSite& site, const AtcTransData& t);
void rows(Block& b, const AtcSite& site, const AtcRows& r);
void quantized_rows(Block& b, const AtcSite& site, const AtcRows& r);
void top_k_rows(Block& b, const AtcSite& site, const AtcRows& r);

// Cube unit
void load2d(Block& b, const AtcSite& site, const AtcLoad2d& l);
void load3d(Block& b, const AtcSite& site, const AtcLoad3d& l);
void init_const(Block& b, const AtcSite& site, const AtcInitConst& c);
void mmad(Block& b, const AtcSite& site, const AtcMmad& m);
void fixpipe(Block& b, const AtcSite& site, const AtcFixpipe& f);

// Order
void set_flag(Block& b, const AtcSite& site, int from, int to, int event);
void wait_flag(Block& b, const AtcSite& site, int from, int to, int event);
void barrier(Block& b, const AtcSite& site, int pipe);
int fetch_event(Block& b, const AtcSite& site, int from, int to, bool reserve);
void release_event(Block& b, const AtcSite& site, int from, int to, int event);
void cross_set(Block& b, const AtcSite& site, int mode, int pipe, int flag);
void cross_wait(Block& b, const AtcSite& site, int flag);
void block_flag_set(Block& b, const AtcSite& site, const AtcGm& gm, int block, int event);
void block_flag_wait(Block& b, const AtcSite& site, const AtcGm& gm, int block, int event);
void sync_all(Block& b, const AtcSite& site, int who);  ///< AtcSyncAll

/// The table that drives a Block.
const AtcCoreApi& core_api();

}  // namespace atc::ascendc
