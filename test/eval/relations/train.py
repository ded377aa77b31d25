"""Learns what a later text is to an earlier one, and whether a memory answers a question: python3 train.py GRAPH DATA OUT [--seed N] [--epochs N] [--pairs N] [--rate N] [--start OUT]

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

# In the order of the outputs, which relation-engine.ts reads. After them comes that of answers.
KINDS = ["other", "changed", "same"]
ANSWERS = ["none", "answer"]
BATCH, RANK = 48, 24
# What an epoch takes of the families, as shares of --pairs: there are far more of them than of our own sets, which it takes whole.
FAMILIES = {"same": 0.2, "changed": 0.22, "other": 0.38, "answer": 0.15, "none": 0.22}
# The same for sheets, and for the questions of stores.
SHEETS = {"same": 0.04, "changed": 0.07, "other": 0.12, "answer": 0.08, "none": 0.12}
STORES = {"answer": 0.06, "none": 0.08}
# How often it takes the pairs that were written one by one.
PAIRS = 3
# Batches of texts of like length are made of so many pairs, so that little is computed for nothing.
SORTED = 16 * BATCH
LEAST = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)

parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("data"), parser.add_argument("out")
parser.add_argument("--seed", type=int, default=1), parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--pairs", type=int, default=60_000), parser.add_argument("--rate", type=float, default=1e-3)
parser.add_argument("--start", help="learn on from what was learned before")
options = parser.parse_args()
torch.set_num_threads(2)
torch.manual_seed(options.seed)
chance = random.Random(options.seed)
data = json.load(open(options.data))
texts = data["texts"]


class Relations(Network):
    """`judge` gives the log-odds of the kinds, and of an answer."""

    def __init__(self, weights, seed):
        super().__init__(weights, None, seed, rank=RANK)
        self.head = torch.nn.Linear(WIDTH, len(KINDS) + 1)

    def judge(self, pairs):
        rows = [(texts[pair["first"]], texts[pair["second"]][1:]) for pair in pairs]
        length = max(len(first) + len(second) for first, second in rows)
        ids, mask, types = (torch.zeros(len(rows), length, dtype=kind) for kind in (torch.long, torch.float, torch.long))
        for row, (first, second) in enumerate(rows):
            end = len(first) + len(second)
            ids[row, :end] = torch.tensor(first + second)
            mask[row, :end] = 1
            types[row, len(first) : end] = 1
        return self.head(self(ids, mask, types)[:, 0])


def length_of(pair):
    return len(texts[pair["first"]]) + len(texts[pair["second"]])


def places_of(pairs, kinds):
    return torch.tensor([kinds.index(pair["kind"]) for pair in pairs])


def is_relation(pair):
    return pair["kind"] in KINDS


def loss_of(batch):
    """The mean of all pairs' losses."""
    sums, related = network.judge(batch), torch.tensor([is_relation(pair) for pair in batch])
    loss = 0
    if related.any():
        kinds = places_of(filter(is_relation, batch), KINDS)
        loss = F.cross_entropy(sums[related][:, : len(KINDS)], kinds, reduction="sum")
    if not related.all():
        answers = places_of((pair for pair in batch if not is_relation(pair)), ANSWERS)
        loss = loss + F.binary_cross_entropy_with_logits(sums[~related][:, -1], answers.float(), reduction="sum")
    return loss / len(batch)


def epoch():
    """The batches of an epoch."""
    sources = {}
    for pair in data["learnt"]:
        sources.setdefault((pair["set"], pair["kind"]), []).append(pair)
    taken = []
    for (name, kind), pairs in sources.items():
        shares = {"families": FAMILIES, "sheets": SHEETS, "stores": STORES}.get(name)
        if shares:
            taken += chance.sample(pairs, min(int(options.pairs * shares[kind]), len(pairs)))
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
def judge_all(pairs):
    return torch.cat([network.judge(pairs[at : at + 128]) for at in range(0, len(pairs), 128)])


def measure_answers(name):
    """By set: how often it tells rightly whether a memory answers a question, and how often an answer has more than another
    memory beside the same question."""
    known = [pair for pair in data[name] if not is_relation(pair)]
    for of in sorted({pair["set"] for pair in known}):
        pairs = sorted((pair for pair in known if pair["set"] == of), key=length_of)
        sums, right = judge_all(pairs)[:, -1].numpy(), places_of(pairs, ANSWERS).numpy()
        asked = np.array([pair["first"] for pair in pairs])
        better = [sums[(asked == one) & (right == 1)][:, None] > sums[(asked == one) & (right == 0)] for one in set(asked)]
        before = np.concatenate([each.ravel() for each in better]).mean()
        print(f"  answers of {of}: accuracy {((sums > 0) == right).mean():.3f} before others {before:.3f}", flush=True)


def measure(name):
    """From some least chances: the shares of the same and the changed that are told, of what is told that is wrong, and of the
    others of which anything is told."""
    pairs = sorted(filter(is_relation, data[name]), key=length_of)
    kinds = places_of(pairs, KINDS).numpy()
    chances = F.softmax(judge_all(pairs)[:, : len(KINDS)], -1).numpy()
    print(f"{name}: accuracy {(chances.argmax(1) == kinds).mean():.3f}")
    for least in LEAST:
        told = np.where(chances[:, 1:].max(1) >= least, chances[:, 1:].argmax(1) + 1, 0)
        changed, same = (np.mean(told[kinds == kind] == kind) for kind in (1, 2))
        wrong, others = np.mean((told != kinds)[told > 0]), np.mean(told[kinds == 0] > 0)
        print(f"  from {least}: same {same:.3f} changed {changed:.3f} wrong {wrong:.3f} others {others:.4f}", flush=True)


network = Relations(read_weights(options.graph), options.seed)
if options.start:
    network.load_state_dict(torch.load(options.start))
optimizer = torch.optim.AdamW(network.parameters(), lr=options.rate, betas=(0.9, 0.98), weight_decay=0.01)
plan = [batch for _ in range(options.epochs) for batch in epoch()]
started, total = time.time(), 0
for step, batch in enumerate(plan):
    pace = min(1, (step + 1) / (0.08 * len(plan))) * max(0.02, 1 - step / len(plan))
    optimizer.param_groups[0]["lr"] = options.rate * pace
    loss = loss_of(batch)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    total += loss.item()
    if (step + 1) % 25 == 0:
        print(step + 1, "of", len(plan), round(total / 25, 3), round(time.time() - started), "s", flush=True)
        total = 0
torch.save(network.state_dict(), options.out)
for name in ("kept", "held"):
    measure(name)
    measure_answers(name)
