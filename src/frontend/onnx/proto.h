// The ONNX messages of libonnx. Only .cc files of this folder include this header.
#pragma once

#include <onnx/onnx_pb.h>
