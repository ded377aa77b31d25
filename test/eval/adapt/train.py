"""Learns a LoRA and a projection: python3 train.py GRAPH PROJECTION DATA OUT [--seed N] [--epochs N] [--rate N] [--base FILE]

GRAPH is model_quantized.onnx of bge-small, PROJECTION src/embedding/projection.json, DATA what prepare.ts wrote.
--base keeps the plain vectors for the next run. Needs Debian's python3-torch, python3-onnx and python3-numpy. Run two seeds
beside each other: each uses one core.
"""

import argparse
import json
import os
import random
import time

import numpy as np
import torch
import torch.nn.functional as F
from network import Network, late_interaction, read_projection, read_weights

# A step takes up to so many questions of one group: their answers are memories that are like each other.
BATCH, TOGETHER, RATE = 32, 8, 7e-4
# Temperatures of the two losses, and what late interaction counts.
VECTORS, TOKENS, SHARE = 0.02, 0.05, 0.5
LONGEST = {"question": 48, "memory": 96}
# Memories of the same group that are most like the question, and how many of them a step compares.
NEAREST, WRONG = 12, 1

parser = argparse.ArgumentParser()
parser.add_argument("graph"), parser.add_argument("projection"), parser.add_argument("data"), parser.add_argument("out")
parser.add_argument("--seed", type=int, default=1), parser.add_argument("--epochs", type=float, default=1.5)
parser.add_argument("--rate", type=float, default=RATE)
parser.add_argument("--base")
options = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(options.seed)
chance = random.Random(options.seed)
data = json.load(open(options.data))
texts = data["texts"]
weights, projection = read_weights(options.graph), read_projection(options.projection)


@torch.no_grad()
def vectors_of(network, numbers, longest):
    order = sorted(numbers, key=lambda number: len(texts[number]["ids"]))
    found = {}
    for at in range(0, len(order), 64):
        part = order[at : at + 64]
        for number, vector in zip(part, network.embed([texts[n] for n in part], longest)[0]):
            found[number] = vector
    return found


def measure(network):
    """Recall of the kept stores, all in one: by vectors and by late interaction."""
    memories = [number for group in data["kept"] for number in group["memories"]]
    questions, wanted, first = [], [], 0
    for group in data["kept"]:
        for question in group["questions"]:
            questions.append(question["text"]), wanted.append({first + at for at in question["evidence"]})
        first += len(group["memories"])
    scores = {"vectors": [], "late interaction": []}
    with torch.no_grad():
        parts = [network.embed([texts[n] for n in memories[at : at + 64]], 256) for at in range(0, len(memories), 64)]
        for at in range(0, len(questions), 64):
            q, states, counted = network.embed([texts[n] for n in questions[at : at + 64]], 64)
            scores["vectors"].append(torch.cat([q @ p[0].T for p in parts], 1))
            scores["late interaction"].append(torch.cat([late_interaction(states, counted, p[1], p[2]) for p in parts], 1))
    for name, rows in scores.items():
        order = torch.cat(rows).argsort(1, descending=True)[:, :10].tolist()
        recall = [np.mean([len(set(row[:k]) & want) / len(want) for row, want in zip(order, wanted)]) for k in (1, 5, 10)]
        print(f"{name}: recall @1 {recall[0]:.3f} @5 {recall[1]:.3f} @10 {recall[2]:.3f}", flush=True)


def near_memories(plain):
    """Each question with its evidence and with memories that are like it but no evidence."""
    numbers = {n for group in data["learnt"] for n in group["memories"] + [q["text"] for q in group["questions"]]}
    known = torch.load(options.base) if options.base and os.path.exists(options.base) else {}
    vectors = known | vectors_of(plain, numbers - known.keys(), LONGEST["memory"])
    if options.base:
        torch.save(vectors, options.base)
    lessons = {}
    for group in data["learnt"]:
        memories = torch.stack([vectors[n] for n in group["memories"]])
        for question in group["questions"]:
            order = (memories @ vectors[question["text"]]).argsort(descending=True).tolist()
            others = [at for at in order if at not in question["evidence"]]
            # The first may answer too where nobody has checked it.
            skipped = 0 if group["source"] in ("stores", "languages") else 1
            pick = lambda places: [group["memories"][at] for at in places]
            lesson = (question["text"], pick(question["evidence"]), pick(others[skipped : skipped + NEAREST]))
            lessons.setdefault(group["source"], {}).setdefault(id(group), []).append(lesson)
    return lessons


def batches(lessons):
    found = []
    for groups in lessons.values():
        parts = []
        for of in groups.values():
            chance.shuffle(of)
            parts += [of[at : at + TOGETHER] for at in range(0, len(of), TOGETHER)]
        chance.shuffle(parts)
        of = [lesson for part in parts for lesson in part]
        found += [of[at : at + BATCH] for at in range(0, len(of), BATCH) if len(of) - at >= BATCH // 2]
    chance.shuffle(found)
    return found


def loss_of(network, batch):
    memories = [chance.choice(right) for _, right, _ in batch]
    for _, _, wrong in batch:
        memories += chance.sample(wrong, min(WRONG, len(wrong)))
    answers = torch.tensor([[at != row and number in right for at, number in enumerate(memories)]
                            for row, (_, right, _) in enumerate(batch)])
    q, q_states, q_counted = network.embed([texts[question] for question, _, _ in batch], LONGEST["question"])
    m, m_states, m_counted = network.embed([texts[number] for number in memories], LONGEST["memory"])
    right = torch.arange(len(batch))
    by_vectors = F.cross_entropy((q @ m.T / VECTORS).masked_fill(answers, -1e4), right)
    tokens = late_interaction(q_states, q_counted, m_states, m_counted)
    return by_vectors, F.cross_entropy((tokens / TOKENS).masked_fill(answers, -1e4), right)


plain = Network(weights, projection, 0, adapted=False)
started = time.time()
if options.seed == 1:
    measure(plain)
lessons = near_memories(plain)
counts = {source: sum(map(len, groups.values())) for source, groups in lessons.items()}
print(counts, round(time.time() - started), "s", flush=True)
network = Network(weights, projection, options.seed)
optimizer = torch.optim.AdamW([
    {"params": [*network.down.parameters(), *network.up.parameters()], "weight_decay": 0.01, "share": 1},
    {"params": [network.matrix, network.offsets], "weight_decay": 0, "share": 0.5},
], lr=options.rate, betas=(0.9, 0.98))
plan = []
while len(plan) < options.epochs * len(batches(lessons)):
    plan += batches(lessons)
plan = plan[: int(options.epochs * len(batches(lessons)))]
sums = np.zeros(2)
for step, batch in enumerate(plan):
    pace = min(1, (step + 1) / (0.1 * len(plan))) * max(0.03, 1 - step / len(plan))
    for group in optimizer.param_groups:
        group["lr"] = options.rate * pace * group["share"]
    losses = loss_of(network, batch)
    optimizer.zero_grad()
    (losses[0] + SHARE * losses[1]).backward()
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimizer.step()
    sums += [each.item() for each in losses]
    if (step + 1) % 20 == 0:
        print(step + 1, "of", len(plan), (sums / 20).round(3), round(time.time() - started), "s", flush=True)
        sums[:] = 0
torch.save({"state": network.state_dict(), "data": data["hash"], "seed": options.seed}, options.out)
measure(network)
