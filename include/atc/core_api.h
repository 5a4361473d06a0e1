#ifndef ATC_CORE_API_H_
#define ATC_CORE_API_H_

/* The instructions of the simulated AI Core as a C table, for kernels that live in a shared library.
 *
 * The headers of include/ascendc turn Ascend C into calls of this table. A library that was built against an
 * older table runs with a newer one: the version is raised when a field changes its meaning, functions are
 * only ever added at the end, and `struct_bytes` says how many there are.
 *
 * Units: offsets, extents and gaps are bytes unless the field says otherwise; "data block" is 32 bytes.
 * Every instruction takes the place in the user's source that diagnostics name. Instructions do not report
 * faults to the kernel: a fault is kept, and where the kernel cannot go on the call does not return (the
 * stack is unwound, so a library must be built with exceptions).
 *
 * Threads: a block is a fiber. It may go on upon another thread after a call marked "switches"; whoever keeps
 * the block in a thread_local variable sets it again after these calls. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATC_CORE_API_VERSION 2

/* A place in the user's source; `file` lives as long as the library. */
typedef struct AtcSite {
  const char* file;
  int32_t line;
} AtcSite;

enum AtcMemory {
  ATC_UB,
  ATC_L1,
  ATC_L0A,
  ATC_L0B,
  ATC_L0C,
  ATC_BIAS_TABLE,
  ATC_FIXPIPE_BUFFER,
  ATC_MEMORY_COUNT
};

enum AtcPipe {
  ATC_PIPE_S,
  ATC_PIPE_V,
  ATC_PIPE_M,
  ATC_PIPE_MTE1,
  ATC_PIPE_MTE2,
  ATC_PIPE_MTE3,
  ATC_PIPE_FIX,
  ATC_PIPE_ALL
};

enum AtcType {
  ATC_F32,
  ATC_F16,
  ATC_BF16,
  ATC_I8,
  ATC_U8,
  ATC_I16,
  ATC_U16,
  ATC_I32,
  ATC_U32,
  ATC_I64,
  ATC_U64,
  ATC_I4,
  ATC_F64,
  ATC_TYPE_COUNT
};

/* Numbered as KERNEL_TYPE_* of Ascend C. */
enum AtcKernelType {
  ATC_KERNEL_AIV_ONLY,
  ATC_KERNEL_AIC_ONLY,
  ATC_KERNEL_MIX_AIV_1_0,
  ATC_KERNEL_MIX_AIC_1_0,
  ATC_KERNEL_MIX_AIC_1_1,
  ATC_KERNEL_MIX_AIC_1_2,
  ATC_KERNEL_AICORE,
  ATC_KERNEL_VECTORCORE,
  ATC_KERNEL_MIX_AICORE,
  ATC_KERNEL_MIX_VECTORCORE
};

/* The block that runs: what a kernel may read of it. The simulator keeps more behind these fields. */
typedef struct AtcBlock {
  int32_t block_num;     /* as launched */
  int32_t block_idx;     /* GetBlockIdx: of vector cores in mix 1:2 up to 2 * block_num - 1 */
  int32_t sub_block_idx; /* which vector core of its block */
  int32_t sub_block_num; /* vector cores of a block */
  int32_t task_ratio;    /* 2 on the vector cores of mix 1:2, else 1 */
  int32_t is_cube;       /* has a cube unit; both are set on chips with one kind of core */
  int32_t is_vector;
  int32_t npu_arch; /* as __NPU_ARCH__: 2201, 2002, 1001, 3002 */
  uint64_t tiling_key;
  void* system_workspace;
  int64_t system_workspace_bytes;
  uint32_t memory_bytes[ATC_MEMORY_COUNT]; /* usable by the kernel */
  uint8_t* memory[ATC_MEMORY_COUNT];       /* the simulated memories, for GetPhyAddr */
  void* user[4];                           /* the kernel library's own, null at the start */
} AtcBlock;

/* A stretch of an on-chip memory: the tensor an instruction touches. */
typedef struct AtcLocal {
  uint8_t memory;   /* AtcMemory */
  uint8_t position; /* TPosition of Ascend C */
  uint16_t reserved;
  int32_t buffer; /* what init_buffer gave, -1: none */
  uint32_t offset;
  uint32_t bytes; /* from `offset` to the end of the tensor */
} AtcLocal;

/* A stretch of Global Memory. */
typedef struct AtcGm {
  void* data;
  int64_t bytes;  /* as SetGlobalBuffer said; -1: unknown */
  int32_t tensor; /* what bind_global gave, -1: none */
} AtcGm;

/* ---- Buffers and queues ---- */
typedef struct AtcBufferRequest {
  uint8_t is_queue;
  uint8_t position;     /* TPosition; of a TQueBind that of the source */
  uint8_t dst_position; /* TQueBind; else as position */
  uint8_t in_place;     /* depth 0 */
  int32_t depth;
  uint32_t count;    /* buffers of a queue */
  uint64_t bytes;    /* of each */
  const void* owner; /* the queue or TBuf object */
} AtcBufferRequest;

enum AtcQueueQuery { ATC_QUEUE_FREE_BUFFERS, ATC_QUEUE_ENQUEUED, ATC_QUEUE_CAN_ENQUEUE };

/* ---- Copies ---- */
enum AtcCopyForm { ATC_COPY_COUNT, ATC_COPY_BLOCKS, ATC_COPY_PAD };

typedef struct AtcCopyEnd {
  int32_t is_gm;
  AtcLocal local;
  AtcGm gm;
} AtcCopyEnd;

/* DataCopy, DataCopyPad. Gaps are from the end of a block to the start of the next, as given in bytes. */
typedef struct AtcCopy {
  AtcCopyEnd dst, src;
  uint8_t form; /* AtcCopyForm */
  uint8_t type;
  uint8_t is_pad;
  uint8_t left_pad, right_pad; /* elements; may be more than a block holds, which is a fault */
  int64_t elements;            /* ATC_COPY_COUNT: what was asked for */
  uint32_t block_count;
  int64_t block_bytes;
  int64_t src_gap, dst_gap;
  uint64_t pad_bits; /* one element */
} AtcCopy;

/* ND to NZ on the way from Global Memory to L1 (Nd2NzParams). Counts and pitches in elements. */
typedef struct AtcNd2Nz {
  AtcLocal dst;
  AtcGm src;
  uint8_t type;
  uint32_t matrices, rows, cols;
  uint64_t src_matrix_stride, src_row_stride;
  uint32_t dst_c0_stride, dst_row_stride; /* data blocks */
  uint64_t dst_matrix_stride;
} AtcNd2Nz;

/* ---- Vector unit ---- */
enum AtcVecOp {
  /* dst = src0 op src1 */
  ATC_ADD,
  ATC_SUB,
  ATC_MUL,
  ATC_DIV,
  ATC_MAX,
  ATC_MIN,
  ATC_AND,
  ATC_OR,
  ATC_ADD_RELU,
  ATC_SUB_RELU,
  ATC_MUL_ADD_DST,
  ATC_FUSED_MUL_ADD,
  ATC_FUSED_MUL_ADD_RELU,
  ATC_ADD_RELU_CAST,
  ATC_SUB_RELU_CAST,
  ATC_MUL_CAST,
  /* dst = src0 op scalar */
  ATC_ADDS,
  ATC_MULS,
  ATC_MAXS,
  ATC_MINS,
  ATC_LEAKY_RELU,
  ATC_SHIFT_LEFT,
  ATC_SHIFT_RIGHT,
  ATC_AXPY,
  /* dst = op src0 */
  ATC_EXP,
  ATC_LN,
  ATC_ABS,
  ATC_RECIPROCAL,
  ATC_SQRT,
  ATC_RSQRT,
  ATC_RELU,
  ATC_NOT,
  ATC_CAST,
  ATC_CAST_DEQ,
  ATC_COPY,
  /* dst = scalar, dst = scalar + i * scalar1 */
  ATC_DUPLICATE,
  ATC_ARANGE,
  /* bits */
  ATC_COMPARE,
  ATC_COMPARE_SCALAR,
  ATC_SELECT,
  /* count form: one result; per repeat; per data block; per pair */
  ATC_REDUCE_SUM,
  ATC_REDUCE_MAX,
  ATC_REDUCE_MIN,
  ATC_WHOLE_SUM,
  ATC_WHOLE_MAX,
  ATC_WHOLE_MIN,
  ATC_BLOCK_SUM,
  ATC_BLOCK_MAX,
  ATC_BLOCK_MIN,
  ATC_PAIR_SUM,
  /* 8 scalars of src0 a repeat, each fills a data block */
  ATC_BRCB,
  /* functions that the vector unit expands into several instructions (high-level library) */
  ATC_SIGMOID,
  ATC_TANH,
  ATC_ERF,
  ATC_POWER,
  ATC_SIN,
  ATC_COS,
  ATC_TAN,
  ATC_FLOOR,
  ATC_CEIL,
  ATC_ROUND,
  ATC_TRUNC,
  ATC_SIGN,
  ATC_XOR,
  ATC_SWISH, /* x / (1 + exp(-scalar x)) */
  ATC_GELU,  /* by tanh */
  ATC_ERFC,
  ATC_SINH,
  ATC_COSH,
  ATC_ASIN,
  ATC_ACOS,
  ATC_ATAN,
  ATC_ASINH,
  ATC_ACOSH,
  ATC_ATANH,
  ATC_LGAMMA,
  ATC_DIGAMMA,
  ATC_FRAC,
  ATC_LOG2,
  ATC_LOG10,
  ATC_GELU_V2, /* by a parabola: FasterGeluV2 */
  ATC_HYPOT,
  ATC_VEC_OP_COUNT
};

enum AtcLanesForm {
  ATC_LANES_COUNT,    /* `count` elements */
  ATC_LANES_MASK,     /* the first `mask[0]` lanes of each repeat */
  ATC_LANES_BITS,     /* lanes by bits of mask[0], mask[1] */
  ATC_LANES_REGISTERS /* what set_mask has left */
};

typedef struct AtcLanes {
  uint8_t form;
  int32_t repeat; /* of all but ATC_LANES_COUNT */
  int64_t count;
  uint64_t mask[2];
} AtcLanes;

/* In data blocks: from a block to the next of a repeat, from a repeat to the next (of WholeReduce's
 * destination in elements). */
typedef struct AtcStride {
  int32_t block, repeat;
} AtcStride;

typedef struct AtcOperand {
  AtcLocal local;
  AtcStride stride;
  uint8_t type;
} AtcOperand;

typedef struct AtcVector {
  uint32_t op;  /* AtcVecOp */
  int32_t mode; /* RoundMode, CMPMODE, SELMODE, ReduceOrder; of ATC_SHIFT_RIGHT 1: rounds; of ATC_REDUCE_* 1:
                   with index */
  AtcOperand dst, src0, src1;
  AtcOperand work; /* the work tensor of ATC_REDUCE_*, the bits of ATC_SELECT; bytes = 0: none */
  AtcLanes lanes;
  double scalar, scalar1;
  int64_t integer, integer1; /* the scalars of integer types */
} AtcVector;

/* dst[i] = the element at byte src_base + offset[i] of src (of `blocks`: the data block). */
typedef struct AtcGather {
  AtcOperand dst, src, offset;
  AtcLanes lanes;
  uint32_t src_base;
  uint8_t blocks;
} AtcGather;

/* GatherMask: the elements that the pattern names, one behind the other. */
typedef struct AtcGatherMask {
  AtcOperand dst, src, pattern; /* pattern.local.bytes = 0: the fixed pattern */
  uint8_t fixed_pattern;        /* 1..7 */
  uint8_t reduce_mode;          /* mask counts elements of each repeat */
  uint32_t mask;
  int32_t repeat;
  int32_t src_block_stride, src_repeat_stride, pattern_repeat_stride;
} AtcGatherMask;

/* Sort32: descending by value, equal ones in order. Records of 8 bytes. */
typedef struct AtcSort32 {
  AtcLocal dst, value, index;
  uint8_t type;
  int32_t repeat;
} AtcSort32;

typedef struct AtcMergeSort {
  AtcLocal dst, src[4];
  uint8_t type;
  uint8_t valid;   /* bit i: list i takes part */
  uint8_t suspend; /* stops when a list is used up */
  uint16_t length[4];
  int32_t repeat;
  uint16_t* merged; /* records taken from each list, 4; may be null */
} AtcMergeSort;

/* TransDataTo5HD: 16 rows of a data block each become 16 columns. */
typedef struct AtcTransData {
  AtcLocal dst[16], src[16];
  uint8_t type;
  uint8_t dst_high, src_high; /* 8-bit types: which half of a block */
  int32_t repeat, dst_repeat_stride, src_repeat_stride;
} AtcTransData;

/* ---- Functions over the rows of a matrix (high-level library) ---- */
/* Outputs and inputs by op; "stat" has one data block a row, all of it the row's value. */
enum AtcRowOp {
  ATC_ROW_SOFTMAX,          /* out: y, sum (stat), max (stat); in: x */
  ATC_ROW_SIMPLE_SOFTMAX,   /* out: y; in: x, sum, max (stats): exp(x - max) / sum */
  ATC_ROW_SOFTMAX_FLASH,    /* as V2, y and exp_max divided by the new sum */
  ATC_ROW_SOFTMAX_FLASH_V2, /* out: y = exp(x - max), sum, max, exp_max (stats); in: x, sum, max (stats, when
                               ATC_ROW_UPDATE is set: rows so far) */
  ATC_ROW_SOFTMAX_GRAD,     /* out: dx = y * (dy - sum(dy * y)); in: dy, y */
  ATC_ROW_SOFTMAX_GRAD_FRONT, /* out: sum(dy * y) (stat); in: dy, y */
  ATC_ROW_LAYER_NORM, /* out: y, mean, variance (one element a row); in: x, gamma, beta; scalar: epsilon */
  ATC_ROW_RMS_NORM,   /* out: y; in: x, gamma; scalar: epsilon */
  /* out: one element a row (ATC_ROW_COLUMNS: a column); in: x */
  ATC_ROW_SUM,
  ATC_ROW_MEAN,
  ATC_ROW_MAX,
  ATC_ROW_MIN,
  ATC_ROW_PROD,
  ATC_ROW_CUMSUM,    /* out: y, sums of a row's beginnings (flag: a column's); in: x */
  ATC_ROW_BROADCAST, /* out: y; in: one element a row (ATC_ROW_COLUMNS: a column) */
  ATC_ROW_QUANT,   /* out: y (int8) = x * scale + offset, in half; in: x, scale, offset (an element a column;
                      bytes = 0: `scalar`, `second`) */
  ATC_ROW_DEQUANT, /* out: y = x * scale; in: x (int32), scale (an element a column; bytes = 0: `scalar`) */
  ATC_ROW_TOP_K,   /* out: values, their places (int32); in: x, places (int32; none: 0, 1, ...), rows that are
                      over (bool; none: no row), whose places become `cols`; `count` of each row */
  ATC_ROW_OP_COUNT
};
/* Bits of AtcRows.flag. */
enum AtcRowFlag {
  ATC_ROW_COLUMNS = 1,     /* reductions, sums of beginnings, broadcasts: along the columns */
  ATC_ROW_UPDATE = 1,      /* SoftmaxFlash: sum and max of what came before are given */
  ATC_ROW_PLAIN_STATS = 2, /* stats are one element a row */
  ATC_ROW_SMALLEST = 1,    /* ATC_ROW_TOP_K: the least, ascending */
  ATC_ROW_DENSE = 2,       /* ATC_ROW_TOP_K: rows of results follow each other, and each row has its places */
};

typedef struct AtcRows {
  uint32_t op; /* AtcRowOp */
  int32_t flag;
  AtcOperand out[4], in[3]; /* bytes = 0: none; the strides are not used */
  int64_t rows, cols;       /* what counts */
  int64_t pitch;            /* elements from a row of a matrix to the next */
  double scalar, second;
  int64_t count;
} AtcRows;

/* ---- Cube unit ---- */
/* LoadData of whole fractals of 512 bytes; strides in fractals. From Global Memory: src_gm.data set. */
typedef struct AtcLoad2d {
  AtcLocal dst, src;
  AtcGm src_gm;
  uint8_t type, transpose;
  uint8_t square;                    /* LoadDataWithTranspose: blocks of several fractals are turned as one */
  uint8_t address_down;              /* addrMode 1 */
  int32_t start, repeat, src_stride; /* start to start */
  int32_t dst_gap, dst_fractal_gap;  /* end to start */
} AtcLoad2d;

/* LoadData of im2col columns (LoadData3DParamsV2). */
typedef struct AtcLoad3d {
  AtcLocal dst, src;
  uint8_t type, transpose, small_k;
  uint8_t pad[4]; /* left, right, top, bottom */
  uint16_t height, width, channels;
  uint16_t k_extent, m_extent, k_start, m_start;
  uint8_t stride_w, stride_h;
  uint16_t filter_w, filter_h;
  uint8_t dilation_w, dilation_h;
  uint64_t pad_bits;
} AtcLoad3d;

typedef struct AtcInitConst {
  AtcLocal dst;
  uint8_t type;
  int32_t repeat, blocks; /* of a repeat, in units of the memory: 512 bytes of L0, 32 of L1 */
  int32_t dst_gap;
  uint64_t bits;
} AtcInitConst;

typedef struct AtcMmad {
  AtcLocal dst, a, b, bias; /* bias.bytes = 0: none */
  uint8_t dst_type, a_type, b_type, bias_type;
  uint16_t m, n, k;
  uint8_t accumulate; /* else dst begins as zero or as the bias */
  uint8_t gemv;       /* m = 1: A is a vector, not fractals */
  uint8_t unit_flag;
} AtcMmad;

enum AtcQuant {
  ATC_QUANT_NONE,
  ATC_QUANT_F16,
  ATC_QUANT_BF16,
  ATC_QUANT_DEQ_F16,
  ATC_QUANT_DEQ_F16_VECTOR,
  ATC_QUANT_REQ_8,
  ATC_QUANT_REQ_8_VECTOR,
  ATC_QUANT_F32_8,
  ATC_QUANT_F32_8_VECTOR
};

/* L0C to Global Memory, L1 or (310P) the Unified Buffer. */
typedef struct AtcFixpipe {
  AtcCopyEnd dst;
  AtcLocal src;
  uint8_t dst_type, src_type;
  uint8_t row_major; /* else NZ */
  uint8_t relu, unit_flag, channel_split;
  uint8_t quant; /* AtcQuant */
  uint16_t m, n;
  uint32_t src_stride; /* rows of 16 elements from one column of fractals to the next */
  uint32_t dst_stride; /* row major: elements; NZ: data blocks */
  uint16_t matrices, src_matrix_stride;
  uint32_t dst_matrix_stride;
  uint64_t scale;  /* quantisation factor: the bits of a float in the low half */
  AtcLocal scales; /* one for each column; bytes = 0: none */
} AtcFixpipe;

/* ---- Products of whole matrices (the Matmul object) ---- */
/* NZ: [columns / C0][rows, a multiple of 16][C0], C0 = 32 bytes (of a result 16 elements of 2 or 4 bytes). */
enum AtcMatrixFormat { ATC_MATRIX_ND, ATC_MATRIX_NZ };

/* A matrix where its first element is. */
typedef struct AtcMatrix {
  AtcCopyEnd at;
  uint8_t type;
  uint8_t format;    /* AtcMatrixFormat */
  uint8_t transpose; /* the stored matrix is the transpose of the operand */
  int64_t pitch;     /* ND: elements from a stored row to the next; NZ: stored rows of a column of blocks */
} AtcMatrix;

/* C = A x B + bias: m x k by k x n, tile by tile. */
typedef struct AtcMatmul {
  AtcMatrix a, b, c;
  AtcCopyEnd bias; /* n elements; all zero: none */
  uint8_t bias_type;
  uint8_t atomic;        /* AtcAtomic of the result in Global Memory */
  uint8_t quant;         /* AtcQuant */
  uint8_t columns_first; /* the order of the tiles: along m before n */
  uint8_t hf32;          /* float operands lose digits; AtcHf32 */
  int64_t m, n, k;
  int64_t base_m, base_n, base_k; /* a tile: of L0A, L0B, L0C */
  int32_t depth_a, depth_b;       /* tiles of A and B that L1 keeps */
  uint64_t scale;                 /* as AtcFixpipe has it */
  AtcGm scales;                   /* n of them; data = null: none */
} AtcMatmul;

/* What float operands of the cube unit become: 11 digits of mantissa, rounded. */
enum AtcHf32 { ATC_HF32_OFF, ATC_HF32_NEAREST, ATC_HF32_TOWARD_ZERO };

enum AtcAtomic { ATC_ATOMIC_NONE, ATC_ATOMIC_ADD, ATC_ATOMIC_MAX, ATC_ATOMIC_MIN };

enum AtcMaskMode { ATC_MASK_NORMAL, ATC_MASK_COUNTER };

/* Whom a cross-core flag reaches: the modes of CrossCoreSetFlag, and all cores of the task. */
enum AtcCrossMode { ATC_CROSS_KIND, ATC_CROSS_VECTOR_PAIR, ATC_CROSS_PARTNER, ATC_CROSS_ALL };

/* Whom SyncAll waits for: the cores of its kind, all, or those of its kind by flags in memory (which
 * needs no scheduler, so any kernel type does). */
enum AtcSyncAll { ATC_SYNC_KIND, ATC_SYNC_ALL_KINDS, ATC_SYNC_BY_MEMORY };

enum AtcMark { ATC_MARK_BEGIN, ATC_MARK_END };

typedef struct AtcCoreApi {
  uint32_t version;      /* ATC_CORE_API_VERSION */
  uint32_t struct_bytes; /* sizeof the table that the simulator has */

  /* Program. */
  void (*declare_type)(AtcBlock*, const AtcSite*, int32_t kernel_type);
  void (*print)(AtcBlock*, const AtcSite*, const char* text);
  void (*fail)(AtcBlock*, const AtcSite*, const char* text); /* an assertion of the kernel; does not return */
  void (*mark)(AtcBlock*, const AtcSite*, int32_t mark, int32_t id);
  int64_t (*cycle)(AtcBlock*);
  int32_t (*bind_global)(AtcBlock*, const AtcSite*, const AtcGm*);

  /* Buffers and queues. */
  int32_t (*init_buffer)(AtcBlock*, const AtcSite*, const AtcBufferRequest*);
  void (*reset_buffers)(AtcBlock*, const AtcSite*);
  void (*buffer_get)(AtcBlock*, const AtcSite*, int32_t buffer, AtcLocal* tensor);
  void (*queue_alloc)(AtcBlock*, const AtcSite*, int32_t queue, AtcLocal* tensor);
  void (*queue_enque)(AtcBlock*, const AtcSite*, int32_t queue, const AtcLocal* tensor);
  void (*queue_deque)(AtcBlock*, const AtcSite*, int32_t queue, AtcLocal* tensor);
  void (*queue_free)(AtcBlock*, const AtcSite*, int32_t queue, const AtcLocal* tensor);
  int32_t (*queue_query)(AtcBlock*, int32_t queue, int32_t query);
  void (*queue_free_all)(AtcBlock*, const AtcSite*, int32_t queue);

  /* Scalar accesses: bits of one element of 1, 2, 4 or 8 bytes. */
  uint64_t (*load_local)(AtcBlock*, const AtcSite*, const AtcLocal*, uint64_t offset, uint32_t bytes);
  void (*store_local)(AtcBlock*, const AtcSite*, const AtcLocal*, uint64_t offset, uint32_t bytes,
                      uint64_t bits);
  uint64_t (*load_global)(AtcBlock*, const AtcSite*, const AtcGm*, uint64_t offset, uint32_t bytes);
  void (*store_global)(AtcBlock*, const AtcSite*, const AtcGm*, uint64_t offset, uint32_t bytes,
                       uint64_t bits);
  /* DataCacheCleanAndInvalid; whole: the entire cache. */
  void (*clean_cache)(AtcBlock*, const AtcSite*, const AtcGm*, int32_t whole);

  /* MTE1, MTE2, MTE3. */
  void (*copy)(AtcBlock*, const AtcSite*, const AtcCopy*);
  void (*nd2nz)(AtcBlock*, const AtcSite*, const AtcNd2Nz*);
  void (*set_atomic)(AtcBlock*, const AtcSite*, int32_t atomic, int32_t type);
  /* InitOutput: `elements` of Global Memory become the value. */
  void (*fill_global)(AtcBlock*, const AtcSite*, const AtcGm*, uint64_t elements, int32_t type,
                      uint64_t bits);

  /* V. */
  void (*set_mask)(AtcBlock*, const AtcSite*, uint64_t high, uint64_t low);
  void (*set_mask_mode)(AtcBlock*, const AtcSite*, int32_t mode);
  void (*set_deq_scale)(AtcBlock*, const AtcSite*, float scale);
  void (*vector)(AtcBlock*, const AtcSite*, const AtcVector*);
  void (*gather)(AtcBlock*, const AtcSite*, const AtcGather*);
  uint64_t (*gather_mask)(AtcBlock*, const AtcSite*, const AtcGatherMask*); /* elements written */
  void (*set_compare_mask)(AtcBlock*, const AtcSite*, const AtcLocal*);     /* for SELMODE 0 */
  void (*get_compare_mask)(AtcBlock*, const AtcSite*, const AtcLocal*);
  void (*sort32)(AtcBlock*, const AtcSite*, const AtcSort32*);
  void (*merge_sort)(AtcBlock*, const AtcSite*, const AtcMergeSort*);
  void (*trans_data)(AtcBlock*, const AtcSite*, const AtcTransData*);
  /* Of the last ReduceMax or ReduceMin: value and index; of the last ReduceSum: the value. */
  void (*reduce_result)(AtcBlock*, const AtcSite*, uint64_t* value, uint64_t* index);

  /* Cube: MTE1, M, FIX. */
  void (*load2d)(AtcBlock*, const AtcSite*, const AtcLoad2d*);
  void (*load3d)(AtcBlock*, const AtcSite*, const AtcLoad3d*);
  void (*init_const)(AtcBlock*, const AtcSite*, const AtcInitConst*);
  void (*mmad)(AtcBlock*, const AtcSite*, const AtcMmad*);
  void (*fixpipe)(AtcBlock*, const AtcSite*, const AtcFixpipe*);

  /* Order of the pipes. */
  void (*set_flag)(AtcBlock*, const AtcSite*, int32_t from, int32_t to, int32_t event);
  void (*wait_flag)(AtcBlock*, const AtcSite*, int32_t from, int32_t to, int32_t event);
  void (*barrier)(AtcBlock*, const AtcSite*, int32_t pipe);
  int32_t (*fetch_event)(AtcBlock*, const AtcSite*, int32_t from, int32_t to, int32_t reserve);
  void (*release_event)(AtcBlock*, const AtcSite*, int32_t from, int32_t to, int32_t event);

  /* Other cores. */
  void (*cross_set)(AtcBlock*, const AtcSite*, int32_t mode, int32_t pipe, int32_t flag);
  void (*cross_wait)(AtcBlock*, const AtcSite*, int32_t flag); /* switches */
  void (*sync_all)(AtcBlock*, const AtcSite*, int32_t who);    /* switches; AtcSyncAll */

  /* Products of whole matrices. On a core with a cube unit a product is done when the call returns. A vector
   * core has its partner do it: matmul gives a ticket, and the result is there after matmul_wait. The partner
   * is in matmul_serve, which returns when its vector cores have ended. `workspace` (Global Memory; may be
   * null) is where operands and results in the vector core's own memory pass through. */
  int32_t (*matmul_register)(AtcBlock*, const AtcSite*, int32_t cube_only, void* workspace);
  void (*matmul_serve)(AtcBlock*, const AtcSite*); /* switches */
  int64_t (*matmul)(AtcBlock*, const AtcSite*, const AtcMatmul*);
  void (*matmul_wait)(AtcBlock*, const AtcSite*, int64_t ticket); /* switches */
  void (*set_hf32)(AtcBlock*, const AtcSite*, int32_t mode);      /* AtcHf32 */
  void (*rows)(AtcBlock*, const AtcSite*, const AtcRows*);        /* V */

  /* Pools of buffers: a stretch of a position's memory (of another pool's, when `shared` is one: the two use
   * it in turns), and buffers within it. */
  int32_t (*init_pool)(AtcBlock*, const AtcSite*, int32_t position, uint64_t bytes, int32_t shared);
  int32_t (*init_buffer_in)(AtcBlock*, const AtcSite*, int32_t pool, const AtcBufferRequest*);
  void (*reset_pool)(AtcBlock*, const AtcSite*, int32_t pool);

  /* IBSet, IBWait: a flag in Global Memory that one block sets and another takes. */
  void (*block_flag_set)(AtcBlock*, const AtcSite*, const AtcGm*, int32_t block, int32_t event);
  void (*block_flag_wait)(AtcBlock*, const AtcSite*, const AtcGm*, int32_t block,
                          int32_t event); /* switches */
} AtcCoreApi;

/* A kernel as the launcher calls it, once for each block. Arguments are addresses in Global Memory, scalars
 * the bits of the value. */
typedef void (*AtcKernel)(AtcBlock* block, const AtcCoreApi* api, void* const* args);

#ifdef __cplusplus
}
#endif

#endif /* ATC_CORE_API_H_ */
