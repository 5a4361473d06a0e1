#!/usr/bin/env python3
"""Write a decoder in the shape of LLaMA as ONNX, with weights in an external file.

  make_llama.py OUTPUT_DIR [--mode prefill|decode] [--tokens N] [--past N] [--layers 32] [--hidden 4096] [--heads 32]
                [--ffn 11008] [--vocabulary 32000] [--dtype float16|float32] [--seed 1] [--weight-mib 512]

The defaults are the sizes of LLaMA-2-7B. OUTPUT_DIR/model.onnx is the graph, as exporters write it: RMSNorm by
Pow/ReduceMean/Sqrt/Div, rotary embedding by Slice/Neg/Concat, SwiGLU by Sigmoid/Mul, attention by MatMul/Softmax;
OUTPUT_DIR/weights.bin holds --weight-mib MiB of seeded normal numbers. Each tensor is another stretch of that file, so no
two are equal and 13 GB of weights take half a gigabyte of disk. The numbers mean nothing; the sizes do.

prefill: input_ids i64[1,tokens] -> logits [1,tokens,vocabulary], present.<layer>.key/value.
decode:  input_ids i64[1,1], past.<layer>.key/value [1,heads,past,hidden/heads] -> logits, present.<layer>.key/value.

Needs the Debian packages python3-onnx and python3-numpy.
"""
import argparse
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Weights:
    """Names stretches of one file of random numbers."""

    def __init__(self, path, mib, dtype, seed):
        self.location = os.path.basename(path)
        self.size = mib << 20
        self.dtype = dtype
        self.itemsize = np.dtype(dtype).itemsize
        self.next = 0
        rng = np.random.default_rng(seed)
        with open(path, "wb") as f:
            for _ in range(mib):
                f.write((rng.standard_normal((1 << 20) // self.itemsize, dtype=np.float32) * 0.02).astype(dtype).tobytes())

    def tensor(self, name, dims):
        length = int(np.prod(dims)) * self.itemsize
        if length + self.next >= self.size:
            # Other stretches than before: the start moves by a prime number of cache lines each time round.
            self.next = (self.next * 131 + 64 * 10007) % (self.size - length) // 64 * 64
        t = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(np.dtype(self.dtype))
                        if hasattr(helper, "np_dtype_to_tensor_dtype")
                        else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[np.dtype(self.dtype)], dims=dims,
                        data_location=TensorProto.EXTERNAL)
        for key, value in (("location", self.location), ("offset", self.next), ("length", length)):
            t.external_data.add(key=key, value=str(value))
        self.next += 64 * 1009
        return t


class Builder:
    def __init__(self, weights, dtype):
        self.weights, self.dtype = weights, dtype
        self.nodes, self.initializers = [], []

    def op(self, op_type, inputs, name, outputs=1, **attributes):
        outs = [name if outputs == 1 else f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op_type, inputs, outs, name=name, **attributes))
        return outs[0] if outputs == 1 else outs

    def weight(self, name, *dims):
        self.initializers.append(self.weights.tensor(name, dims))
        return name

    def constant(self, name, values, dtype=None):
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype=dtype or self.dtype), name))
        return name

    def rms_norm(self, x, name, hidden):
        square = self.op("Pow", [x, "two"], f"{name}/Pow")
        mean = self.op("ReduceMean", [square], f"{name}/ReduceMean", axes=[-1], keepdims=1)
        root = self.op("Sqrt", [self.op("Add", [mean, "epsilon"], f"{name}/Add")], f"{name}/Sqrt")
        return self.op("Mul", [self.op("Div", [x, root], f"{name}/Div"), self.weight(f"{name}.weight", hidden)], f"{name}/Mul")

    def rope(self, x, name, half):
        left = self.op("Slice", [x, "zero", "half", "last_axis"], f"{name}/Slice")
        right = self.op("Slice", [x, "half", "end", "last_axis"], f"{name}/Slice_1")
        turned = self.op("Concat", [self.op("Neg", [right], f"{name}/Neg"), left], f"{name}/Concat", axis=-1)
        return self.op("Add", [self.op("Mul", [x, "cos"], f"{name}/Mul"), self.op("Mul", [turned, "sin"], f"{name}/Mul_1")],
                       f"{name}/Add")

    def heads(self, x, name):
        return self.op("Transpose", [self.op("Reshape", [x, "split_heads"], f"{name}/Reshape")], f"{name}/Transpose",
                       perm=[0, 2, 1, 3])

    def layer(self, x, i, a):
        n, d = f"/layers.{i}", a.hidden
        y = self.rms_norm(x, f"{n}/input_norm", d)
        q, k, v = (self.heads(self.op("MatMul", [y, self.weight(f"layers.{i}.{p}.weight", d, d)], f"{n}/attn/{p}/MatMul"),
                              f"{n}/attn/{p}") for p in ("q", "k", "v"))
        q, k = self.rope(q, f"{n}/attn/rope_q", d // a.heads // 2), self.rope(k, f"{n}/attn/rope_k", d // a.heads // 2)
        present_k, present_v = f"present.{i}.key", f"present.{i}.value"
        for past, new, present in ((f"past.{i}.key", k, present_k), (f"past.{i}.value", v, present_v)):
            if a.mode == "decode":
                self.nodes.append(helper.make_node("Concat", [past, new], [present], name=f"{n}/attn/{present}", axis=2))
            else:
                self.nodes.append(helper.make_node("Identity", [new], [present], name=f"{n}/attn/{present}"))
        keys, values = (present_k, present_v) if a.mode == "decode" else (k, v)
        kt = self.op("Transpose", [keys], f"{n}/attn/Transpose", perm=[0, 1, 3, 2])
        scores = self.op("Mul", [self.op("MatMul", [q, kt], f"{n}/attn/MatMul"), "scale"], f"{n}/attn/Mul")
        if a.mode == "prefill":
            scores = self.op("Add", [scores, "causal_mask"], f"{n}/attn/Add")
        context = self.op("MatMul", [self.op("Softmax", [scores], f"{n}/attn/Softmax", axis=-1), values], f"{n}/attn/MatMul_1")
        merged = self.op("Reshape", [self.op("Transpose", [context], f"{n}/attn/Transpose_1", perm=[0, 2, 1, 3]), "join_heads"],
                         f"{n}/attn/Reshape")
        x = self.op("Add", [x, self.op("MatMul", [merged, self.weight(f"layers.{i}.o.weight", d, d)], f"{n}/attn/o/MatMul")],
                    f"{n}/Add")
        y = self.rms_norm(x, f"{n}/post_norm", d)
        gate = self.op("MatMul", [y, self.weight(f"layers.{i}.gate.weight", d, a.ffn)], f"{n}/mlp/gate/MatMul")
        up = self.op("MatMul", [y, self.weight(f"layers.{i}.up.weight", d, a.ffn)], f"{n}/mlp/up/MatMul")
        silu = self.op("Mul", [gate, self.op("Sigmoid", [gate], f"{n}/mlp/Sigmoid")], f"{n}/mlp/Mul")
        down = self.op("MatMul", [self.op("Mul", [silu, up], f"{n}/mlp/Mul_1"), self.weight(f"layers.{i}.down.weight", a.ffn, d)],
                       f"{n}/mlp/down/MatMul")
        return self.op("Add", [x, down], f"{n}/Add_1")


def build(a):
    os.makedirs(a.output, exist_ok=True)
    dtype = np.dtype(a.dtype)
    b = Builder(Weights(os.path.join(a.output, "weights.bin"), a.weight_mib, dtype, a.seed), dtype)
    kind = TensorProto.FLOAT16 if a.dtype == "float16" else TensorProto.FLOAT
    rows, past, head = (a.tokens, 0, a.hidden // a.heads) if a.mode == "prefill" else (1, a.past, a.hidden // a.heads)
    for name, value in (("two", 2), ("epsilon", 1e-5), ("scale", head ** -0.5)):
        b.constant(name, value)
    for name, value in (("zero", [0]), ("half", [head // 2]), ("end", [np.iinfo(np.int64).max]), ("last_axis", [-1]),
                        ("split_heads", [1, rows, a.heads, head]), ("join_heads", [1, rows, a.hidden])):
        b.constant(name, value, np.int64)
    angles = np.outer(np.arange(past, past + rows), 10000.0 ** (-np.arange(0, head, 2) / head))
    angles = np.concatenate([angles, angles], -1)[None, None]
    b.constant("cos", np.cos(angles))
    b.constant("sin", np.sin(angles))
    if a.mode == "prefill":
        b.constant("causal_mask", np.triu(np.full((rows, rows), -10000.0), 1)[None, None])

    inputs = [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, rows])]
    outputs = [helper.make_tensor_value_info("logits", kind, [1, rows, a.vocabulary])]
    x = b.op("Gather", [b.weight("embed.weight", a.vocabulary, a.hidden), "input_ids"], "/embed/Gather", axis=0)
    for i in range(a.layers):
        x = b.layer(x, i, a)
        for part in ("key", "value"):
            if past:
                inputs.append(helper.make_tensor_value_info(f"past.{i}.{part}", kind, [1, a.heads, past, head]))
            outputs.append(helper.make_tensor_value_info(f"present.{i}.{part}", kind, [1, a.heads, past + rows, head]))
    x = b.rms_norm(x, "/norm", a.hidden)
    b.nodes.append(helper.make_node("MatMul", [x, b.weight("lm_head.weight", a.hidden, a.vocabulary)], ["logits"], name="/lm_head/MatMul"))
    graph = helper.make_graph(b.nodes, f"llama_{a.mode}", inputs, outputs, b.initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    with open(os.path.join(a.output, "model.onnx"), "wb") as f:
        f.write(model.SerializeToString())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("output")
    p.add_argument("--mode", choices=("prefill", "decode"), default="prefill")
    p.add_argument("--tokens", type=int, default=128, help="of a prefill")
    p.add_argument("--past", type=int, default=1023, help="tokens in the KV cache of a decode")
    for name, value in (("layers", 32), ("hidden", 4096), ("heads", 32), ("ffn", 11008), ("vocabulary", 32000), ("seed", 1),
                        ("weight-mib", 512)):
        p.add_argument(f"--{name}", type=int, default=value)
    p.add_argument("--dtype", choices=("float16", "float32"), default="float16")
    build(p.parse_args())


if __name__ == "__main__":
    main()
