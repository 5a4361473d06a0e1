/* The interface between the compiler, the runner and a library of custom operators: plain C, versioned.
 *
 * A library is a shared object that exports one function, atc_custom_op_library. It is loaded in a child
 * process only: a fault in it ends that process, never the tool. `msopgen` and `ascendc-g++` generate all of
 * this from Ascend C projects; a library may as well be written by hand.
 *
 * Every function returns 0 for success. Otherwise it has written one sentence to the caller's `error` buffer
 * (zero-terminated, cut off at `error_bytes`). Pointers that a library hands out stay valid as long as it is
 * loaded; pointers that it is given are valid during the call. Nothing may be thrown. */
#ifndef ATC_CUSTOM_OP_H
#define ATC_CUSTOM_OP_H

#include <stddef.h>
#include <stdint.h>

#include "atc/core_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of a structure below. */
#define ATC_CUSTOM_OP_VERSION 1u
#define ATC_CUSTOM_OP_MAX_RANK 8

/* Element types and formats have AscendCL's numbers. */
enum {
  ATC_DT_FLOAT = 0,
  ATC_DT_FLOAT16 = 1,
  ATC_DT_INT8 = 2,
  ATC_DT_INT32 = 3,
  ATC_DT_UINT8 = 4,
  ATC_DT_INT16 = 6,
  ATC_DT_UINT16 = 7,
  ATC_DT_UINT32 = 8,
  ATC_DT_INT64 = 9,
  ATC_DT_UINT64 = 10,
  ATC_DT_DOUBLE = 11,
  ATC_DT_BOOL = 12,
  ATC_DT_BF16 = 27
};
enum { ATC_FORMAT_NCHW = 0, ATC_FORMAT_NHWC = 1, ATC_FORMAT_ND = 2 };

enum { ATC_PARAM_REQUIRED = 0, ATC_PARAM_OPTIONAL = 1 };
enum {
  ATC_ATTR_INT = 0,
  ATC_ATTR_FLOAT = 1,
  ATC_ATTR_BOOL = 2,
  ATC_ATTR_STRING = 3,
  ATC_ATTR_INTS = 4,
  ATC_ATTR_FLOATS = 5
};

/* An attribute's value; which members count depends on `kind`. */
typedef struct AtcCustomAttr {
  const char* name;
  uint32_t kind;  /* ATC_ATTR_* */
  uint32_t count; /* of ints or floats */
  int64_t i;      /* INT, BOOL */
  float f;
  const char* s;
  const int64_t* ints;
  const float* floats;
} AtcCustomAttr;

/* An attribute of an operator: `value.name` and `value.kind`, and its default unless it is required. */
typedef struct AtcCustomAttrSpec {
  AtcCustomAttr value;
  uint32_t required;
} AtcCustomAttrSpec;

/* An input or output. Column c of all `dtypes` and `formats` is one supported combination. */
typedef struct AtcCustomParam {
  const char* name;
  uint32_t kind;       /* ATC_PARAM_*; outputs are required */
  uint32_t wants_data; /* inputs: infer_shape and tiling need the elements, which must be constant */
  const int32_t* dtypes;
  const int32_t* formats;
} AtcCustomParam;

/* A tensor as the functions of an operator see it. `rank` < 0: absent optional input, or a shape that is not
 * known at all. A dim that is not known is -1. */
typedef struct AtcCustomTensor {
  int32_t dtype;
  int32_t format;
  int32_t rank;
  int64_t dims[ATC_CUSTOM_OP_MAX_RANK];
  const void* data; /* the elements of a constant, else null */
  uint64_t data_bytes;
} AtcCustomTensor;

/* The chip for which a model is compiled; sizes in bytes, for one core where that makes a difference. */
typedef struct AtcCustomChip {
  const char* soc_version;           /* "Ascend910B3" */
  uint32_t cube_cores, vector_cores; /* vector_cores: those that run vector kernels */
  uint32_t split;                    /* cube and vector units are cores of their own */
  uint64_t ub, l1, l0a, l0b, l0c, l2, global_memory;
  uint64_t system_workspace; /* what a workspace must have in front for the library functions */
} AtcCustomChip;

/* One node. Inputs are in the operator's order, absent optional ones included; attributes that the model does
 * not give have their defaults. */
typedef struct AtcCustomCall {
  const struct AtcCustomOp* op; /* whose function is called */
  const AtcCustomTensor* inputs;
  uint32_t input_count;
  const AtcCustomTensor* outputs; /* tiling only: as inferred */
  uint32_t output_count;
  const AtcCustomAttr* attrs;
  uint32_t attr_count;
  const AtcCustomChip* chip; /* tiling only */
  char* error;
  size_t error_bytes;
} AtcCustomCall;

/* How a node is run. `kernel_type` comes in as that of the operator. */
typedef struct AtcCustomTiling {
  uint32_t block_dim;
  uint32_t kernel_type;
  uint32_t schedule_mode; /* 1: the blocks wait for each other, all of them must run at once */
  uint64_t tiling_key;
  uint64_t workspace_bytes; /* the system workspace included */
  void* data;               /* the kernel's tiling data is written here */
  size_t data_capacity;
  size_t data_bytes;
} AtcCustomTiling;

typedef void (*AtcCustomSetAttr)(void* to, const AtcCustomAttr* attr);

/* One operator of a library. */
typedef struct AtcCustomOp {
  const void* user; /* the library's own */
  const char* type;
  const char* domain; /* ONNX domain of the nodes it stands for; "" or null: any */
  const AtcCustomParam* inputs;
  uint32_t input_count;
  const AtcCustomParam* outputs;
  uint32_t output_count;
  uint32_t combinations;
  const AtcCustomAttrSpec* attrs;
  uint32_t attr_count;
  const char* const* chips; /* "ascend910b": a prefix of the chip's name in lower case */
  uint32_t chip_count;      /* 0: every chip */
  /* ONNX operators that it stands for beside `type`: "ai.onnx::11::LeakyRelu", version optional. */
  const char* const* origins;
  uint32_t origin_count;

  /* Shapes of the outputs; their dtypes are set already. */
  int (*infer_shape)(const AtcCustomCall* call, AtcCustomTensor* outputs);
  /* Dtypes of the outputs; null: those of the combination. */
  int (*infer_dtype)(const AtcCustomCall* call, AtcCustomTensor* outputs);
  int (*tiling)(const AtcCustomCall* call, AtcCustomTiling* tiling);
  /* Makes the operator's attributes from those of an ONNX node (`call->attrs`); null: names are the same. */
  int (*parse)(const AtcCustomCall* call, AtcCustomSetAttr set, void* to);

  uint32_t kernel_type; /* AtcKernelType */
  /* One for each combination: what one block does. Arguments are the addresses of inputs, outputs, workspace
   * and tiling data in this order; null for what is absent. */
  const AtcKernel* kernels;
} AtcCustomOp;

typedef struct AtcCustomOpLibrary {
  uint32_t version;          /* ATC_CUSTOM_OP_VERSION with which the library was compiled */
  uint32_t core_api_version; /* ATC_CORE_API_VERSION likewise */
  uint32_t op_count;
  const AtcCustomOp* ops;
} AtcCustomOpLibrary;

/* The exported function. `version` is the caller's ATC_CUSTOM_OP_VERSION: a library that knows several may
 * answer with the one asked for; one whose answer differs is refused. */
typedef const AtcCustomOpLibrary* (*AtcCustomOpLibraryFunction)(uint32_t version);
#define ATC_CUSTOM_OP_SYMBOL "atc_custom_op_library"

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ATC_CUSTOM_OP_H */
