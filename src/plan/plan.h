#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "atc/base/bytes.h"
#include "atc/ir/type.h"
#include "custom/manifest.h"
#include "kernels/task.h"
#include "plan/memory_record.h"

namespace atc::plan {

/// Where a tensor of the plan lives.
enum class Space : std::uint8_t {
  Input,   ///< the caller's buffer for graph input `index`
  Output,  ///< the caller's buffer for graph output `index`
  Weight,  ///< WEIGHTS_DATA of the .om, at `offset`
  Arena,   ///< the activation arena, at `offset`
  Held,    ///< the runtime's, of the size that the data gives it; only regions read and write it
};

/// One tensor in Global Memory.
struct PlanTensor {
  std::string name;  ///< of the IR value, for reports
  Space space = Space::Arena;
  int index = 0;  ///< graph input or output number
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  DType dtype = DType::Undefined;
  Dims shape;  ///< logical (ONNX) shape; of Held tensors, -1 where it depends on data
  ir::Format format = ir::Format::ND;
  /// A part of a larger tensor may lie in `items` stretches of equal size within its `bytes`, `item_stride`
  /// bytes from the start of one to the next.
  std::int64_t items = 1, item_stride = 0;

  std::int64_t item_bytes() const { return bytes - (items - 1) * item_stride; }
  /// fn(begin, end) for each stretch of what [begin, begin + size) holds of the tensor.
  template <class F>
  void for_stretches(std::int64_t begin, std::int64_t size, F fn) const {
    if (items == 1 || begin != 0 || size != bytes) return fn(begin, begin + size);
    for (std::int64_t i = 0; i < items; ++i) fn(i * item_stride, i * item_stride + item_bytes());
  }
};

enum class Engine : std::uint8_t { AiCore, AiCpu, Region, Custom };

/// A library of custom operators.
struct PlanLibrary {
  std::string name;    ///< of the file
  std::string path;    ///< where to look for it when it is not embedded, as the user wrote it
  std::string sha256;  ///< of its bytes, 64 hexadecimal digits
  Bytes bytes;         ///< empty: not embedded
};

/// The kernel of a library that a task runs.
struct CustomTask {
  int library = -1;  ///< index into the plan's libraries
  std::string op;    ///< type of the operator there
  std::uint32_t combination = 0;
  custom::Tiling tiling;
  std::vector<int> args;  ///< operands in the kernel's order: inputs, outputs, workspace; -1: absent
};

/// One launch. An AI Core task runs `kernel`; an AI CPU task evaluates one operator by reference; a region
/// is a graph that the runtime compiles when its shapes are known, and runs task by task; a custom task runs
/// a kernel of a library on the AI Core, with the operands and blocks of `kernel`.
struct PlanTask {
  std::string name;                  ///< of the IR node
  std::string op_type;               ///< "Conv", "Softmax", "TransData"; of the fused node's anchor
  std::vector<std::string> sources;  ///< ONNX nodes
  Engine engine = Engine::AiCore;
  kernels::Task kernel;  ///< AiCore, Custom; for AiCpu only `macs` is used
  CustomTask custom;     ///< Custom
  // AiCpu, Region:
  std::string air;                   ///< a graph in .air form (AiCpu: of one node) whose inputs and outputs
                                     ///< are the tensors below, in order
  std::vector<int> inputs, outputs;  ///< plan tensors
};

/// A graph input or output as callers see it.
struct PlanPort {
  std::string name;
  int tensor = -1;
};

/// Everything needed to run a model: what TASK_INFO and WEIGHTS_DATA of an .om hold.
struct Plan {
  std::string model_name;
  std::string soc_version;
  std::vector<PlanTensor> tensors;
  std::vector<PlanTask> tasks;  ///< in execution order
  std::vector<PlanPort> inputs, outputs;
  std::vector<PlanLibrary> libraries;  ///< that custom tasks run
  std::int64_t arena_bytes = 0;
  std::int64_t weight_bytes = 0;            ///< size of WEIGHTS_DATA
  std::map<std::string, std::string> info;  ///< atc_cmdline, atc_version, precision, ... sorted
  MemoryRecord memory;                      ///< of a plan that was just built: an .om does not have it
};

/// One stretch of WEIGHTS_DATA, 64-byte aligned; gaps are zero.
struct WeightPiece {
  std::int64_t offset = 0;
  Bytes bytes;
};

/// Checks everything that a reader must not trust: indices, extents, shapes against bytes, order,
/// kernels' parameters (through their `prepare`), overlap with the arena's end. E10041 with the reason.
Status validate(const Plan& plan);

}  // namespace atc::plan
