"""Learns what a later text is to an earlier one: python3 train.py GRAPH DATA OUT [--seed N] [--epochs N] [--pairs N] [--rate N]

GRAPH is model_quantized.onnx of bge-small, DATA what prepare.ts wrote. A LoRA of the graph and a layer on the state of the
first token learn from both texts together. Needs what test/eval/adapt/train.py needs. It uses two cores.
"""

import argparse
import json
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

sys.path.insert(0, str(Path(__file__).parent.parent / "adapt"))
from network import WIDTH, Network, read_weights

# In the order of the outputs, which relation-engine.ts reads.
KINDS = ["other", "changed", "same"]
BATCH, RANK = 48, 11
# What an epoch takes of the families, as shares of --pairs: there are far more of them than of our own sets, which it takes whole.
FAMILIES = {"same": 0.2, "changed": 0.22, "other": 0.38}
# How often it takes the pairs that were written one by one.
PAIRS = 3
# Batches of texts of like length are made of so many pairs, so that little is computed for nothing.
SORTED = 16 * BATCH
LEAST = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)

parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("data"), parser.add_argument("out")
parser.add_argument("--seed", type=int, default=1), parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--pairs", type=int, default=40_000), parser.add_argument("--rate", type=float, default=1e-3)
options = parser.parse_args()
torch.set_num_threads(2)
torch.manual_seed(options.seed)
chance = random.Random(options.seed)
data = json.load(open(options.data))
texts = data["texts"]


class Relations(Network):
    """`judge` gives the log-odds of the kinds."""

    def __init__(self, weights, seed):
        super().__init__(weights, None, seed, rank=RANK)
        self.head = torch.nn.Linear(WIDTH, len(KINDS))

    def judge(self, pairs):
        rows = [(texts[pair["earlier"]], texts[pair["later"]][1:]) for pair in pairs]
        length = max(len(earlier) + len(later) for earlier, later in rows)
        ids, mask, types = (torch.zeros(len(rows), length, dtype=kind) for kind in (torch.long, torch.float, torch.long))
        for row, (earlier, later) in enumerate(rows):
            end = len(earlier) + len(later)
            ids[row, :end] = torch.tensor(earlier + later)
            mask[row, :end] = 1
            types[row, len(earlier) : end] = 1
        return self.head(self(ids, mask, types)[:, 0])


def length_of(pair):
    return len(texts[pair["earlier"]]) + len(texts[pair["later"]])


def kinds_of(pairs):
    return torch.tensor([KINDS.index(pair["kind"]) for pair in pairs])


def epoch():
    """The batches of an epoch."""
    sources = {}
    for pair in data["learnt"]:
        sources.setdefault((pair["set"], pair["kind"]), []).append(pair)
    taken = []
    for (name, kind), pairs in sources.items():
        if name == "families":
            taken += chance.sample(pairs, min(int(options.pairs * FAMILIES[kind]), len(pairs)))
        else:
            taken += pairs * (PAIRS if name == "pairs" else 1)
    chance.shuffle(taken)
    found = []
    for at in range(0, len(taken), SORTED):
        part = sorted(taken[at : at + SORTED], key=length_of)
        batches = [part[first : first + BATCH] for first in range(0, len(part), BATCH)]
        chance.shuffle(batches)
        found += batches
    return found


@torch.no_grad()
def measure(network, name):
    """From some least chances: the shares of the same and the changed that are told, of what is told that is wrong, and of the
    others of which anything is told."""
    pairs = sorted(data[name], key=length_of)
    kinds = kinds_of(pairs).numpy()
    parts = [F.softmax(network.judge(pairs[at : at + 128]), -1) for at in range(0, len(pairs), 128)]
    chances = torch.cat(parts).numpy()
    print(f"{name}: accuracy {(chances.argmax(1) == kinds).mean():.3f}")
    for least in LEAST:
        told = np.where(chances[:, 1:].max(1) >= least, chances[:, 1:].argmax(1) + 1, 0)
        changed, same = (np.mean(told[kinds == kind] == kind) for kind in (1, 2))
        wrong, others = np.mean((told != kinds)[told > 0]), np.mean(told[kinds == 0] > 0)
        print(f"  from {least}: same {same:.3f} changed {changed:.3f} wrong {wrong:.3f} others {others:.4f}", flush=True)


network = Relations(read_weights(options.graph), options.seed)
optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
plan = [batch for _ in range(options.epochs) for batch in epoch()]
started, total = time.time(), 0
for step, batch in enumerate(plan):
    pace = min(1, (step + 1) / (0.08 * len(plan))) * max(0.02, 1 - step / len(plan))
    optimizer.param_groups[0]["lr"] = options.rate * pace
    loss = F.cross_entropy(network.judge(batch), kinds_of(batch))
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    total += loss.item()
    if (step + 1) % 25 == 0:
        print(step + 1, "of", len(plan), round(total / 25, 3), round(time.time() - started), "s", flush=True)
        total = 0
torch.save(network.state_dict(), options.out)
measure(network, "kept")
measure(network, "held")
