#pragma once

// Element types as C constants: template arguments of kernels name them on the host and on the device. The
// numbers are those of ge::DataType.
enum C_DataType : int {
  C_DT_FLOAT = 0,
  C_DT_FLOAT16 = 1,
  C_DT_INT8 = 2,
  C_DT_INT32 = 3,
  C_DT_UINT8 = 4,
  C_DT_INT16 = 6,
  C_DT_UINT16 = 7,
  C_DT_UINT32 = 8,
  C_DT_INT64 = 9,
  C_DT_UINT64 = 10,
  C_DT_DOUBLE = 11,
  C_DT_BOOL = 12,
  C_DT_BF16 = 27,
  C_DT_UNDEFINED = 28,
  C_DT_INT4 = 29,
};

/// Formats likewise: ge::Format.
enum C_Format : int {
  C_FORMAT_NCHW = 0,
  C_FORMAT_NHWC = 1,
  C_FORMAT_ND = 2,
  C_FORMAT_NC1HWC0 = 3,
  C_FORMAT_FRACTAL_Z = 4,
  C_FORMAT_HWCN = 16,
  C_FORMAT_NDHWC = 27,
  C_FORMAT_FRACTAL_NZ = 29,
  C_FORMAT_NCDHW = 30,
};
