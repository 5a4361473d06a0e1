#!/usr/bin/env python3
"""Makes the ONNX models of the examples: <example>/model.onnx. Standard Python only."""
import math
import pathlib

from onnx_writer import FLOAT, INT64, model, node, tensor, value

HERE = pathlib.Path(__file__).parent


def write(example, data):
    (HERE / example / "model.onnx").write_bytes(data)


def f32(name, *dims):
    return value(name, FLOAT, dims)


# A node of a domain of its own; 7007 elements leave a tail on every core.
write("add", model([node("AddCustom", ["x", "y"], ["z"], domain="example")], [f32("x", 7, 1001), f32("y", 7, 1001)],
                   [f32("z", 7, 1001)], domains=("", "example")))

# The standard operator, with an attribute of another name than the custom operator's.
write("leaky_relu", model([node("LeakyRelu", ["x"], ["y"], alpha=0.2)], [f32("x", 3, 1000)], [f32("y", 3, 1000)]))

# LLaMA's norm as PyTorch exports it.
WIDTH = 320
write("rms_norm", model(
    [node("Pow", ["x", "two"], ["square"]), node("ReduceMean", ["square"], ["mean"], axes=[-1], keepdims=1),
     node("Add", ["mean", "epsilon"], ["shifted"]), node("Sqrt", ["shifted"], ["root"]),
     node("Div", ["one", "root"], ["inverse"]), node("Mul", ["x", "inverse"], ["normal"]),
     node("Mul", ["gamma", "normal"], ["y"])],
    [f32("x", 1, 9, WIDTH)], [f32("y", 1, 9, WIDTH)],
    [tensor("two", FLOAT, [], [2.0]), tensor("one", FLOAT, [], [1.0]), tensor("epsilon", FLOAT, [], [1e-5]),
     tensor("gamma", FLOAT, [WIDTH], [1 + 0.5 * math.sin(i) for i in range(WIDTH)])]))

# LLaMA's rotary position embedding of 4 heads at 11 positions.
HEADS, POSITIONS, HEAD = 4, 11, 64
angles = [[p / 10000 ** (2 * (i % (HEAD // 2)) / HEAD) for i in range(HEAD)] for p in range(POSITIONS)]
write("rope", model(
    [node("Slice", ["x", "zero", "middle", "last"], ["low"]), node("Slice", ["x", "middle", "end", "last"], ["high"]),
     node("Neg", ["high"], ["negative"]), node("Concat", ["negative", "low"], ["turned"], axis=-1),
     node("Mul", ["x", "cos"], ["straight"]), node("Mul", ["turned", "sin"], ["across"]),
     node("Add", ["straight", "across"], ["y"])],
    [f32("x", 1, HEADS, POSITIONS, HEAD)], [f32("y", 1, HEADS, POSITIONS, HEAD)],
    [tensor("zero", INT64, [1], [0]), tensor("middle", INT64, [1], [HEAD // 2]), tensor("end", INT64, [1], [1 << 62]),
     tensor("last", INT64, [1], [3])] +
    [tensor(name, FLOAT, [1, 1, POSITIONS, HEAD], [f(a) for row in angles for a in row])
     for name, f in (("cos", math.cos), ("sin", math.sin))]))

# The gated unit of LLaMA's feed-forward network, both halves from one product.
write("swiglu", model(
    [node("Split", ["x"], ["gate", "up"], axis=-1), node("Sigmoid", ["gate"], ["s"]), node("Mul", ["gate", "s"], ["silu"]),
     node("Mul", ["silu", "up"], ["y"])],
    [f32("x", 1, 13, 2 * 688)], [f32("y", 1, 13, 688)]))

# Gate and value of each pair beside each other: x[..., ::2] and x[..., 1::2].
write("swiglu_strided", model(
    [node("Slice", ["x", "zero", "end", "last", "two"], ["gate"]), node("Slice", ["x", "one", "end", "last", "two"], ["up"]),
     node("Sigmoid", ["gate"], ["s"]), node("Mul", ["gate", "s"], ["silu"]), node("Mul", ["silu", "up"], ["y"])],
    [f32("x", 1, 13, 2 * 345)], [f32("y", 1, 13, 345)],
    [tensor(name, INT64, [1], [v]) for name, v in (("zero", 0), ("one", 1), ("two", 2), ("end", 1 << 62), ("last", 2))]))

# Attention pooling: a score for each of 37 positions weighs rows of 100.
write("softmax_mul_reduce_sum", model(
    [node("Softmax", ["s"], ["w"], axis=1), node("Mul", ["w", "x"], ["wx"]), node("ReduceSum", ["wx", "axis"], ["y"], keepdims=0)],
    [f32("s", 3, 37, 1), f32("x", 3, 37, 100)], [f32("y", 3, 100)], [tensor("axis", INT64, [1], [1])]))

# Generalized mean pooling as image retrieval has it, an operator of its own.
write("gem_pool", model([node("GemPool", ["x"], ["y"], domain="example", p=3.0, epsilon=1e-6)],
                        [f32("x", 2, 19, 21, 13)], [f32("y", 2, 19, 1, 1)], domains=("", "example")))

# The standard operator; rows for each of 40 cores.
ROWS, WIDTH = 400, 768
write("layer_norm", model(
    [node("LayerNormalization", ["x", "gamma", "beta"], ["y"], axis=-1, epsilon=1e-5)],
    [f32("x", ROWS, WIDTH)], [f32("y", ROWS, WIDTH)],
    [tensor("gamma", FLOAT, [WIDTH], [1 + 0.5 * math.sin(i) for i in range(WIDTH)]),
     tensor("beta", FLOAT, [WIDTH], [0.3 * math.cos(i) for i in range(WIDTH)])]))

# A projection whose dims are no multiples of 16.
M, K, N = 100, 200, 150
write("matmul", model([node("MatMul", ["x", "w"], ["y"])], [f32("x", 1, M, K)], [f32("y", 1, M, N)],
                      [tensor("w", FLOAT, [K, N], [math.sin(0.37 * i) / 8 for i in range(K * N)])]))
