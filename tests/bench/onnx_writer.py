"""Writes small ONNX models without any package: the few fields of ModelProto that a chain of nodes needs."""
import struct


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def number(field, n):
    return varint(field << 3) + varint(n)


def chunk(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def node(op, inputs, output):
    return chunk(1, b"".join(chunk(1, i) for i in inputs) + chunk(2, output) + chunk(3, output) + chunk(4, op))


def value(field, name, dims):
    """A float32 tensor as a graph's input (field 11) or output (12)."""
    shape = b"".join(chunk(1, number(1, d)) for d in dims)
    return chunk(field, chunk(1, name) + chunk(2, chunk(1, number(1, 1) + chunk(2, shape))))


def constant(name, dims, floats):
    return chunk(5, b"".join(number(1, d) for d in dims) + number(2, 1) + chunk(8, name)
                 + chunk(9, struct.pack(f"<{len(floats)}f", *floats)))


def model(graph):
    return number(1, 8) + chunk(7, graph) + chunk(8, number(2, 17))


def chain(nodes, width=16):
    """x -> MatMul -> Relu -> MatMul -> ... of `nodes` nodes on [width, width]; each MatMul reads one of 8
    weights."""
    weights = [[((7 * w + 3 * i) % 11 - 5) / (3 * width) for i in range(width * width)] for w in range(8)]
    parts, last = [], "x"
    for i in range(nodes):
        name = f"n{i}"
        parts.append(node("Relu", [last], name) if i % 2 else node("MatMul", [last, f"w{i // 2 % 8}"], name))
        last = name
    parts.append(chunk(2, "chain"))
    parts += [constant(f"w{w}", [width, width], weights[w]) for w in range(8)]
    parts += [value(11, "x", [width, width]), value(12, last, [width, width])]
    return model(b"".join(parts))
