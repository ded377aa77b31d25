"""Writes what was learned: python3 export.py GRAPH PROJECTION LEARNED… --out FOLDER [--share N]

The mean of all LEARNED files, as adaptation.safetensors (numbers of 16 bits) and projection.json; --share is what of it counts.
"""

import argparse
import base64
import json

import onnx
import torch
from network import FACTOR, matrix_names, read_projection, write_tensors

parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("projection")
parser.add_argument("learned", nargs="+")
parser.add_argument("--out", required=True), parser.add_argument("--share", type=float, default=1)
options = parser.parse_args()
learned = [torch.load(path) for path in options.learned]
share = options.share
# More than each file has, because a mean of several needs it: 1.8 MB.
KEPT = 11
plain = read_projection(options.projection)


def factors(name):
    """The mean of all products of a layer's factors as one product of the same rank: the nearest there is."""
    key = name.replace(".", "/")
    mean = sum(each["state"]["down." + key] @ each["state"]["up." + key] for each in learned) / len(learned)
    u, s, v = torch.linalg.svd(mean.double(), full_matrices=False)
    root = (s[:KEPT] * share * FACTOR).sqrt()
    return (u[:, :KEPT] * root).numpy(), (v[:KEPT] * root[:, None]).numpy(), float((s[:KEPT] ** 2).sum() / (s**2).sum())


tensors, kept = {}, []
for name, matrix in matrix_names(onnx.load(options.graph).graph).items():
    tensors[matrix + ".down"], tensors[matrix + ".up"], part = factors(name)
    kept.append(part)
size = write_tensors(options.out + "/adaptation.safetensors", tensors, {"data": learned[0]["data"]})

mean = lambda name: sum(each["state"][name] for each in learned) / len(learned)
matrix = plain[0] * (1 - share) + mean("matrix") * share
offsets = plain[1] * (1 - share) + mean("offsets") * share
scales = matrix.abs().max(0).values / 127
numbers = (matrix / scales).round().to(torch.int8).numpy()
# What is subtracted is that of the projection as it is rounded.
json.dump({
    "scales": [float(f"{each:.5g}") for each in scales],
    "offsets": [float(f"{each:.5g}") for each in offsets],
    "dimension": len(numbers),
    "matrix": base64.b64encode(numbers.tobytes()).decode(),
}, open(options.out + "/projection.json", "w"))
print("kept of the mean's squares:", round(min(kept), 3), "to", round(max(kept), 3), size, "bytes")
