"""The networks of the published device rates as torch modules, for device_networks.py."""
import math
import warnings

import torch
import torch.nn as nn
import torchvision.models as tv

warnings.filterwarnings("ignore")


class MobileNetV1(nn.Module):
    """Howard et al. 2017, width 1.0: depthwise 3x3 and pointwise 1x1 pairs, 1000 classes."""

    def __init__(self):
        super().__init__()

        def conv(i, o, kernel, stride, groups=1):
            return [nn.Conv2d(i, o, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(o),
                    nn.ReLU()]

        pairs = [(32, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2)]
        pairs += [(512, 512, 1)] * 5 + [(512, 1024, 2), (1024, 1024, 1)]
        layers = conv(3, 32, 3, 2)
        for i, o, stride in pairs:
            layers += conv(i, i, 3, stride, i) + conv(i, o, 1, 1)
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(1024, 1000)

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3)))


class BertLayer(nn.Module):
    def __init__(self, hidden, heads, inner):
        super().__init__()
        self.heads, self.hidden = heads, hidden
        self.q, self.k, self.v, self.out = (nn.Linear(hidden, hidden) for _ in range(4))
        self.norm1, self.norm2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.up, self.down = nn.Linear(hidden, inner), nn.Linear(inner, hidden)

    def split(self, t):
        return t.view(t.shape[0], t.shape[1], self.heads, self.hidden // self.heads).transpose(1, 2)

    def forward(self, x, mask):
        scores = torch.matmul(self.split(self.q(x)), self.split(self.k(x)).transpose(2, 3))
        scores = scores / math.sqrt(self.hidden // self.heads) + mask
        y = torch.matmul(torch.softmax(scores, -1), self.split(self.v(x)))
        y = y.transpose(1, 2).reshape(x.shape[0], x.shape[1], self.hidden)
        x = self.norm1(x + self.out(y))
        h = self.up(x)
        h = h * 0.5 * (1.0 + torch.erf(h / math.sqrt(2.0)))
        return self.norm2(x + self.down(h))


class BertBase(nn.Module):
    """Devlin et al. 2018, base: 12 layers of hidden size 768, 12 heads, answers as for SQuAD."""

    def __init__(self, vocabulary=30522, hidden=768, layers=12, heads=12, positions=512):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.types = nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.layers = nn.ModuleList(BertLayer(hidden, heads, 4 * hidden) for _ in range(layers))
        self.answer = nn.Linear(hidden, 2)

    def forward(self, ids, mask, types):
        x = self.words(ids) + self.types(types) + self.positions(torch.arange(ids.shape[1])[None])
        x = self.norm(x)
        m = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        for layer in self.layers:
            x = layer(x, m)
        return self.answer(x)


def make(short):
    """The network of a short name, with whatever weights its initialisers give."""
    if short == "bert_base_512":
        return BertBase()
    if short == "mobilenet_v1":
        return MobileNetV1()
    extra = {"init_weights": False, "aux_logits": False} if short == "inception_v3" else {}
    return getattr(tv, short)(weights=None, **extra)


def write(short, shapes, integers, path):
    """Exports to ONNX with a free batch axis; `shapes` without the batch, by input name."""
    torch.manual_seed(1)
    example = tuple(torch.randint(0, 2, (2, *dims)) if integers else torch.randn(2, *dims) for dims in shapes.values())
    axes = {name: {0: "batch"} for name in [*shapes, "output"]}
    # With gradients on, multi-head attention stays off its fused path, which has no ONNX form.
    with torch.set_grad_enabled(short.startswith("vit")):
        torch.onnx.export(make(short).eval(), example, path + ".part", opset_version=14, input_names=list(shapes),
                          output_names=["output"], dynamic_axes=axes)
