"""bge-small in PyTorch: the weights of its int8 graph as numbers, with a LoRA beside each linear layer."""

import base64
import json
import math
import struct

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from onnx import numpy_helper

LAYERS, HEADS, WIDTH = 12, 12, 384
LINEAR = [
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
]
# What the product of a layer's factors counts.
RANK, FACTOR = 8, 2


def matrix_names(graph):
    """The graph's names of the linear layers' matrices, by their PyTorch names."""
    layer = lambda name: name.strip("/").replace("/MatMul_quant", "").replace("/", ".")
    return {layer(node.name): node.input[1].replace("_quantized", "") for node in graph.node if node.op_type == "MatMulInteger"}


def read_weights(path):
    """The graph's weights by their PyTorch names, dequantized."""
    graph = onnx.load(path).graph
    kept = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    numbers = lambda name: kept[name].astype(np.float32)
    dequantize = lambda base: (numbers(base + "_quantized") - numbers(base + "_zero_point")) * numbers(base + "_scale")
    weights = {name: kept[name] for name in kept if name.endswith("bias") or "LayerNorm" in name}
    weights |= {name + ".weight": dequantize(matrix) for name, matrix in matrix_names(graph).items()}
    for kind in ("word", "position", "token_type"):
        name = f"embeddings.{kind}_embeddings.weight"
        weights[name] = dequantize(name)
    return {name: torch.from_numpy(np.array(value, np.float32)) for name, value in weights.items()}


def read_projection(path):
    """The matrix that shortens a token's state, and what is subtracted afterwards."""
    fitted = json.load(open(path))
    matrix = np.frombuffer(base64.b64decode(fitted["matrix"]), np.int8).reshape(fitted["dimension"], -1)
    return torch.from_numpy(matrix * np.array(fitted["scales"], np.float32)), torch.tensor(fitted["offsets"])


def write_tensors(path, tensors, about=None):
    """Writes a file of the format safetensors, in numbers of 16 bits, and gives its size."""
    header, data = {"__metadata__": about} if about else {}, b""
    for name, value in tensors.items():
        raw = np.ascontiguousarray(value, np.float16).tobytes()
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    with open(path, "wb") as file:
        return file.write(struct.pack("<Q", len(head)) + head + data)


class Network(torch.nn.Module):
    """`forward` gives the states of all tokens, `project` shortens them as the product does."""

    def __init__(self, weights, projection, seed, adapted=True, rank=RANK):
        super().__init__()
        self.weights = weights
        linear = [f"encoder.layer.{layer}.{name}" for layer in range(LAYERS) for name in LINEAR]
        # Products of bfloat16 take half the time.
        self.short = {name: weights[name + ".weight"].bfloat16() for name in linear}
        random = torch.Generator().manual_seed(seed)
        self.down, self.up = torch.nn.ParameterDict(), torch.nn.ParameterDict()
        for name in linear if adapted else []:
            inputs, outputs = self.short[name].shape
            start = torch.randn(inputs, rank, generator=random) / math.sqrt(inputs)
            self.down[name.replace(".", "/")] = torch.nn.Parameter(start)
            self.up[name.replace(".", "/")] = torch.nn.Parameter(torch.zeros(rank, outputs))
        if projection:
            self.matrix = torch.nn.Parameter(projection[0].clone())
            self.offsets = torch.nn.Parameter(projection[1].clone())

    def linear(self, name, x):
        x = x.bfloat16()
        y = x @ self.short[name]
        key = name.replace(".", "/")
        if key in self.down:
            y = y + (x @ self.down[key].bfloat16()) @ (self.up[key] * FACTOR).bfloat16()
        return y + self.weights[name + ".bias"].bfloat16()

    def normalize(self, name, x):
        return F.layer_norm(x.float(), (WIDTH,), self.weights[name + ".weight"], self.weights[name + ".bias"], 1e-12)

    def forward(self, ids, mask, types=0):
        count, length = ids.shape
        x = self.weights["embeddings.word_embeddings.weight"][ids]
        x = x + self.weights["embeddings.position_embeddings.weight"][:length]
        x = x + self.weights["embeddings.token_type_embeddings.weight"][types]
        x = self.normalize("embeddings.LayerNorm", x).view(count * length, WIDTH)
        hidden = ((1 - mask) * -1e4).view(count, 1, 1, length)
        heads = lambda y: y.view(count, length, HEADS, WIDTH // HEADS).transpose(1, 2)
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            q, k, v = (heads(self.linear(at + name, x)) for name in LINEAR[:3])
            scores = (q @ k.transpose(-1, -2)).float() / math.sqrt(WIDTH // HEADS) + hidden
            seen = (torch.softmax(scores, -1).to(v.dtype) @ v).transpose(1, 2).reshape(count * length, WIDTH)
            x = self.normalize(at + "attention.output.LayerNorm", self.linear(at + LINEAR[3], seen).float() + x)
            inner = F.gelu(self.linear(at + LINEAR[4], x))
            x = self.normalize(at + "output.LayerNorm", self.linear(at + LINEAR[5], inner).float() + x)
        return x.view(count, length, WIDTH)

    def project(self, states):
        return F.normalize(states @ self.matrix - self.offsets, dim=-1)

    def embed(self, texts, longest):
        """Vectors [n, 384], projected states [n, length, 64] and which of them count, in the order of `texts`."""
        cut = [(text["ids"], text["content"]) if len(text["ids"]) <= longest
               else (text["ids"][: longest - 1] + text["ids"][-1:], [p for p in text["content"] if p < longest - 1])
               for text in texts]
        order = sorted(range(len(cut)), key=lambda at: len(cut[at][0]))
        length = max(len(ids) for ids, _ in cut)
        # Texts of like length run together, so that little is computed for nothing.
        half, most = len(order) // 2, len(order) * 4 // 5
        parts = [order] if len(order) <= 40 else [order[:half], order[half:most], order[most:]]
        vectors, states, counted = [], [], []
        for part in parts:
            widest = max(len(cut[at][0]) for at in part)
            ids, mask, content = (torch.zeros(len(part), widest, dtype=kind) for kind in (torch.long, torch.float, torch.float))
            for row, at in enumerate(part):
                tokens, places = cut[at]
                ids[row, : len(tokens)] = torch.tensor(tokens)
                mask[row, : len(tokens)] = 1
                content[row, places] = 1
            x = self(ids, mask)
            vectors.append(F.normalize(x[:, 0], dim=-1))
            states.append(F.pad(self.project(x), (0, 0, 0, length - widest)))
            counted.append(F.pad(content, (0, length - widest)))
        back = torch.tensor(np.argsort(np.concatenate(parts)))
        return torch.cat(vectors)[back], torch.cat(states)[back], torch.cat(counted)[back]


def late_interaction(states, counted, other_states, other_counted):
    """For each text and each other text: how like the most like token is, as a mean over the text's tokens."""
    places = counted.nonzero()
    tokens = states[places[:, 0], places[:, 1]]
    like = (tokens @ other_states.reshape(-1, other_states.shape[-1]).T).view(len(tokens), *other_counted.shape)
    best = like.masked_fill(other_counted[None] == 0, -1).max(-1).values
    sums = torch.zeros(len(states), len(other_states)).index_add(0, places[:, 0], best)
    return sums / counted.sum(1).clamp(min=1)[:, None]
