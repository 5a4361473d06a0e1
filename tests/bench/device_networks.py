"""Names and input shapes of the networks of the published device rates, and their export to ONNX.

Rates depend on shapes only, so the weights are random. torchvision has most of the networks; MobileNet v1 and
BERT base are written out in device_models.py.
"""
import os

IMAGE = {"image": (3, 224, 224)}
SENTENCE = {name: (512,) for name in ("input_ids", "attention_mask", "token_type_ids")}

# name in the table of rates -> (short name, shapes of the inputs without the batch)
NETWORKS = {
    "BERT base (12 layers, hidden 768, 12 heads), sequence 512": ("bert_base_512", SENTENCE),
    "MobileNet v1 1.0": ("mobilenet_v1", IMAGE),
    "torchvision inception_v3": ("inception_v3", {"image": (3, 299, 299)}),
}
for _name in ("alexnet", "densenet121", "resnet18", "resnet34", "resnet50", "resnext50_32x4d", "squeezenet1_1",
              "vgg16", "vit_b_16", "wide_resnet50_2"):
    NETWORKS["torchvision " + _name] = (_name, IMAGE)


def export(model, folder):
    """Writes folder/<short name>.onnx unless it is there. Gives its path and the shapes of its inputs."""
    short, shapes = NETWORKS[model]
    path = os.path.join(folder, short + ".onnx")
    if not os.path.exists(path):
        from device_models import write

        write(short, shapes, shapes is SENTENCE, path)
        os.replace(path + ".part", path)
    return path, shapes


def input_shape(shapes, batch):
    """What --input_shape takes."""
    return ";".join(f"{name}:{','.join(map(str, (batch, *dims)))}" for name, dims in shapes.items())
