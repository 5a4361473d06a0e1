"""Writes small ONNX models without the onnx package: just enough of the protobuf wire format."""
import struct

FLOAT, FLOAT16, INT64 = 1, 10, 7


def varint(n):
    out = bytearray()
    n &= (1 << 64) - 1
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    """A field of a message: int, float, str, or bytes of a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    out = field(1, name)
    if isinstance(value, float):
        return out + field(2, value) + field(20, 1)
    if isinstance(value, int):
        return out + field(3, value) + field(20, 2)
    return out + b"".join(field(8, v) for v in value) + field(20, 7)


def node(op, inputs, outputs, domain="", **attributes):
    out = b"".join(field(1, i) for i in inputs) + b"".join(field(2, o) for o in outputs)
    out += field(3, outputs[0]) + field(4, op)
    out += b"".join(field(5, attribute(k, v)) for k, v in sorted(attributes.items()))
    return out + (field(7, domain) if domain else b"")


def tensor(name, dtype, dims, values):
    code = {FLOAT: "f", INT64: "q"}[dtype]
    raw = struct.pack("<%d%s" % (len(values), code), *values)
    return b"".join(field(1, d) for d in dims) + field(2, dtype) + field(8, name) + field(9, raw)


def value(name, dtype, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, dtype) + field(2, shape)))


def model(nodes, inputs, outputs, initializers=(), opset=17, domains=("",)):
    graph = b"".join(field(1, n) for n in nodes) + field(2, "g")
    graph += b"".join(field(5, t) for t in initializers)
    graph += b"".join(field(11, v) for v in inputs) + b"".join(field(12, v) for v in outputs)
    sets = b"".join(field(8, (field(1, d) if d else b"") + field(2, opset if not d else 1)) for d in domains)
    return field(1, 8) + field(2, "models/custom_ops/make_models.py") + field(7, graph) + sets
