import { STATE_BYTES } from "../../../src/embedding/embedder.ts";
import type { Filter } from "../../../src/memories/model/filter.ts";
import type { StoredMemory } from "../../../src/memories/model/rows.ts";
import { createRandom } from "../../support/random.ts";
import { filterFrom } from "../../support/random-filter.ts";

export const random = createRandom(7);
export const DIMENSION = 20;
const TAGS = ["red", "blue", "it's", "緑"];
const AGENTS = ["ada", "O'Hara"];
export const SESSIONS = ["s1", "s2", "s3"];
export const WORDS = ["apple", "pear", "plums", "quince", "the", "running", "茶", "Äpfel"];

export const some = <Value>(values: readonly Value[]) => values.filter(() => random.below(2) === 0);
export const maybe = <Value>(value: Value) => (random.below(3) === 0 ? value : null);
export const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));

export function vectorOf(): Float32Array {
  const vector = Float32Array.from({ length: DIMENSION }, () => random.next() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

export function memoryOf(id: string): StoredMemory {
  const via = random.pick(["api", "mcp", "capture"] as const) ?? "api";
  return {
    id,
    content: times(1 + random.below(9), () => random.pick(WORDS)).join(" "),
    tags: some(TAGS),
    agentId: maybe(random.pick(AGENTS) ?? ""),
    sessionId: maybe(random.pick(SESSIONS) ?? ""),
    project: maybe("ctxd"),
    importance: random.below(10) / 10,
    pinned: random.below(2) === 0,
    supersedes: maybe(`id ${random.below(100)}`),
    supersededBy: maybe(`id ${random.below(100)}`),
    metadata: random.below(2) ? "{}" : `{"n":${random.below(5)}}`,
    source: maybe({ via, by: random.pick(["laptop", "desk"]) ?? "", id: "key_1" }),
    createdAt: random.below(60),
    updatedAt: 1_000 + random.below(60),
    expiresAt: maybe(random.below(5_000)),
    vectors: times(1 + random.below(3), vectorOf),
    starts: random.below(2) ? [] : [0, random.below(9)],
    states: Int8Array.from(
      { length: STATE_BYTES * random.below(4) },
      () => random.below(255) - 127,
    ),
  };
}

export function filterOf(): Filter {
  const at = random.below(60);
  return filterFrom(
    {
      tags: () => [...some(TAGS), ...(maybe(["nowhere"]) ?? [])],
      tagsMatch: () => (random.below(2) ? "any" : "all"),
      agentId: () => random.pick([...AGENTS, "nobody"]) ?? "",
      projects: () => some(["ctxd", "other", null]),
      sourceId: () => random.pick(["key_1", "key_2"]) ?? "",
      isCaptured: () => random.below(2) === 0,
      isPinned: () => random.below(2) === 0,
      importanceFrom: () => random.below(10) / 10,
      knownAt: () => random.below(65),
      isCurrent: () => true,
      expiresBefore: () => random.below(5_000),
      aliveAt: () => random.below(5_000),
      sessionId: () => random.pick([...SESSIONS, "never"]) ?? "",
      createdAfter: () => at,
      createdBefore: () => at + random.below(40),
      only: () => Array.from({ length: random.below(99) }, () => `id ${random.below(99)}`),
      except: () => Array.from({ length: 9 }, () => `id ${random.below(99)}`),
    },
    () => maybe(1) !== null,
  );
}
