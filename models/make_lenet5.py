#!/usr/bin/env python3
"""Makes lenet5.onnx, a LeNet-5-like classifier of 28 x 28 digits, and lenet5_digit.npy, one input (a seven).

Digits are drawn from a 5 x 7 font with random shift, scale and noise. The convolutions are seeded random
filters, the classifier behind them is fitted by ridge regression, so the network really tells digits apart.
Needs Debian's python3-onnx and python3-numpy."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FONT = ["01110 10001 10011 10101 11001 10001 01110", "00100 01100 00100 00100 00100 00100 01110",
        "01110 10001 00001 00010 00100 01000 11111", "11111 00010 00100 00010 00001 10001 01110",
        "00010 00110 01010 10010 11111 00010 00010", "11111 10000 11110 00001 00001 10001 01110",
        "00110 01000 10000 11110 10001 10001 01110", "11111 00001 00010 00100 01000 01000 01000",
        "01110 10001 10001 01110 10001 10001 01110", "01110 10001 10001 01111 00001 00010 01100"]
GLYPHS = [np.array([[int(c) for c in row] for row in g.split()], np.float32) for g in FONT]


def draw(digit, rng):
    scale = rng.integers(2, 4)
    big = np.kron(GLYPHS[digit], np.ones((scale, scale), np.float32))
    image = np.zeros((28, 28), np.float32)
    y, x = rng.integers(1, 28 - big.shape[0]), rng.integers(4, 28 - big.shape[1] - 3)
    image[y:y + big.shape[0], x:x + big.shape[1]] = big
    return np.clip(image + rng.normal(0, 0.1, image.shape), 0, 1).astype(np.float32)


def conv_relu_pool(x, w, b):
    k = w.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(2, 3))
    y = np.einsum("nchwij,ocij->nohw", windows, w, optimize=True) + b[None, :, None, None]
    y = np.maximum(y, 0)
    n, c, h, v = y.shape
    return y[:, :, :h // 2 * 2, :v // 2 * 2].reshape(n, c, h // 2, 2, v // 2, 2).max((3, 5))


def main():
    rng = np.random.default_rng(7)
    w1 = (rng.normal(size=(6, 1, 5, 5)) / 5).astype(np.float32)
    w2 = (rng.normal(size=(32, 6, 5, 5)) / 12).astype(np.float32)
    b1, b2 = np.full(6, 0.05, np.float32), np.full(32, 0.05, np.float32)
    labels = np.arange(4000) % 10
    images = np.stack([draw(d, rng) for d in labels])[:, None]
    features = conv_relu_pool(conv_relu_pool(images, w1, b1), w2, b2).reshape(len(labels), -1)
    train = features[:3000].astype(np.float64)
    centre = train.mean(0)
    a = np.hstack([train - centre, np.ones((len(train), 1))])
    target = np.eye(10)[labels[:3000]] * 8 - 4
    solution = np.linalg.solve(a.T @ a + 3.0 * np.eye(a.shape[1]), a.T @ target)
    w3 = solution[:-1].astype(np.float32)
    b3 = (solution[-1] - centre @ solution[:-1]).astype(np.float32)
    accuracy = ((features[3000:] @ w3 + b3).argmax(1) == labels[3000:]).mean()
    print(f"accuracy on unseen digits: {accuracy:.3f}")

    def init(name, value):
        return numpy_helper.from_array(value, name)

    nodes = [helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], "conv1"),
             helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
             helper.make_node("MaxPool", ["r1"], ["p1"], "pool1", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Conv", ["p1", "w2", "b2"], ["c2"], "conv2"),
             helper.make_node("Relu", ["c2"], ["r2"], "relu2"),
             helper.make_node("MaxPool", ["r2"], ["p2"], "pool2", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Flatten", ["p2"], ["f"], "flatten"),
             helper.make_node("Gemm", ["f", "w3", "b3"], ["logits"], "classifier"),
             helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=-1)]
    graph = helper.make_graph(nodes, "lenet5",
                              [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 28, 28])],
                              [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
                              [init("w1", w1), init("b1", b1), init("w2", w2), init("b2", b2), init("w3", w3),
                               init("b3", b3)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="make_lenet5.py")
    model.ir_version = 7
    onnx.checker.check_model(model)
    here = pathlib.Path(__file__).parent
    onnx.save(model, here / "lenet5.onnx")
    np.save(here / "lenet5_digit.npy", draw(7, np.random.default_rng(11))[None, None])


if __name__ == "__main__":
    main()
