"""Writes what train.py learned: python3 export.py GRAPH LEARNED OUT

OUT is src/embedding/relations/relations.safetensors: the factors of the LoRA by the graph's names of the matrices, and the last layer.
"""

import argparse
import math
import sys
from pathlib import Path

import onnx
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "adapt"))
from network import FACTOR, matrix_names, write_tensors

parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("learned"), parser.add_argument("out")
options = parser.parse_args()
learned = torch.load(options.learned)
tensors = {}
for name, matrix in matrix_names(onnx.load(options.graph).graph).items():
    for side in ("down", "up"):
        # Each factor has its part of what their product counts.
        tensors[f"{matrix}.{side}"] = learned[side + "." + name.replace(".", "/")].numpy() * math.sqrt(FACTOR)
tensors["head.weight"] = learned["head.weight"].numpy()
tensors["head.bias"] = learned["head.bias"].numpy()[None]
print(write_tensors(options.out, tensors), "bytes")
