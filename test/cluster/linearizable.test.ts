import { expect, test } from "bun:test";
import { createRandom } from "../support/random.ts";
import { apply, byMemory, type Call, type Event, type State } from "./history.ts";
import { explain } from "./linearizable.ts";

const at = (began: number, ended: number, call: Call): Event => ({ call, began, ended, by: "" });
const save = (id: string, content: string): Call => ({
  kind: "save",
  memories: new Map([[id, content]]),
});
const get = (id: string, content: string | null): Call => ({ kind: "get", id, content });
const all = (...found: [string, string][]): Call => ({ kind: "all", found: new Map(found) });
const change = (
  content: string,
  expects: string | null,
  answer: "done" | "mismatch" | "absent" | "unknown" = "done",
): Call => ({ kind: "change", id: "a", content, expects, answer });
const remove: Call = { kind: "remove", id: "a", answer: "done" };
const NEVER = Number.POSITIVE_INFINITY;

const RIGHT: [string, Event[]][] = [
  ["one after the other", [at(0, 1, save("a", "1")), at(2, 3, get("a", "1"))]],
  ["a read beside a write sees it", [at(0, 9, save("a", "1")), at(2, 3, get("a", "1"))]],
  ["a read beside a write does not see it", [at(0, 9, save("a", "1")), at(2, 3, all())]],
  [
    "reads during a write, of which the later one sees it",
    [at(0, 9, save("a", "1")), at(2, 3, get("a", null)), at(4, 5, get("a", "1"))],
  ],
  [
    "two simultaneous changes, in the order of the reads",
    [
      at(0, 1, save("a", "1")),
      ...[at(2, 9, change("2", null)), at(2, 9, change("3", null))],
      ...[at(3, 4, get("a", "3")), at(10, 11, get("a", "2"))],
    ],
  ],
  [
    "a change without an answer that happened much later",
    [
      at(0, 1, save("a", "1")),
      at(2, NEVER, change("2", null, "unknown")),
      ...[at(3, 4, get("a", "1")), at(10, 11, get("a", "2"))],
    ],
  ],
  [
    "a change without an answer that never happened",
    [
      at(0, 1, save("a", "1")),
      at(2, NEVER, change("2", null, "unknown")),
      at(10, 11, get("a", "1")),
    ],
  ],
  [
    "a removal also counts memories of saves without an answer that nobody has seen",
    [at(0, 1, save("a", "1")), at(2, 3, { kind: "clear", count: 2, unseen: 2 })],
  ],
  [
    "one of two If-Match for the same state wins",
    [
      at(0, 1, save("a", "1")),
      ...[at(2, 9, change("2", "1")), at(2, 9, change("3", "1", "mismatch"))],
    ],
  ],
];

const WRONG: [string, Event[]][] = [
  ["a stale read", [at(0, 1, save("a", "1")), at(2, 3, get("a", null))]],
  ["a stale list", [at(0, 1, save("a", "1")), at(2, 3, all())]],
  [
    "reads during a write, of which only the earlier one sees it",
    [at(0, 9, save("a", "1")), at(2, 3, get("a", "1")), at(4, 5, get("a", null))],
  ],
  [
    "a lost update",
    [at(0, 1, save("a", "1")), at(2, 3, change("2", null)), at(4, 5, get("a", "1"))],
  ],
  [
    "a read of a removed memory",
    [at(0, 1, save("a", "1")), at(2, 3, remove), at(4, 5, get("a", "1"))],
  ],
  ["removed twice", [at(0, 1, save("a", "1")), at(2, 9, remove), at(2, 9, remove)]],
  [
    "both of two If-Match for the same state win",
    [at(0, 1, save("a", "1")), at(2, 9, change("2", "1")), at(2, 9, change("3", "1"))],
  ],
  ["saved twice", [at(0, 1, save("a", "1")), at(2, 3, all(["a", "1"], ["b", "1"]))]],
  [
    "half of a batch",
    [
      at(0, 9, {
        kind: "save",
        memories: new Map([
          ["a", "1"],
          ["b", "2"],
        ]),
      }),
      at(2, 3, all(["b", "2"])),
    ],
  ],
  [
    "more removed memories than existed",
    [at(0, 1, save("a", "1")), at(2, 3, { kind: "clear", count: 2 })],
  ],
  [
    "a change without an answer that is visible and then not",
    [
      ...[at(0, 1, save("a", "1")), at(2, NEVER, change("2", null, "unknown"))],
      ...[at(3, 4, get("a", "2")), at(5, 6, get("a", "1"))],
    ],
  ],
];

test.each(RIGHT)("linearizable: %s", (_, events) => {
  expect(explain(events)).toBeNull();
});

test.each(WRONG)("not linearizable: %s", (_, events) => {
  expect(explain(events)).toContain("no order explains");
});

/** Calls of several clients of a correct store, each with some time before and after its effect. */
function randomHistory(seed: number): Event[] {
  const random = createRandom(seed);
  let state: State = new Map();
  return Array.from({ length: 300 }, (_, moment) => {
    const id = `m${random.below(8)}`;
    const content = random.word();
    const calls: Call[] = [
      ...[
        save(id, content),
        get(id, state.get(id) ?? null),
        { kind: "all" as const, found: state },
      ],
      { kind: "change", id, content, expects: null, answer: state.has(id) ? "done" : "absent" },
      { kind: "remove", id, answer: state.has(id) ? "done" : "absent" },
    ];
    const call =
      calls.filter((each) => apply(state, each))[random.below(4)] ?? get(id, state.get(id) ?? null);
    state = apply(state, call) ?? state;
    return at(moment - random.next() * 6, moment + random.next() * 6, call);
  });
}

test("random histories of many clients are linearizable, and none with one stale read", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const events = randomHistory(seed);
    expect(explain(events)).toBeNull();
    const stale = at(900, 901, get("m0", "never written"));
    expect(explain([...events, stale])).toContain("never written");
  }
});

test("a list is a read of each memory, and none may be stale", () => {
  const events = [at(0, 1, save("a", "1")), at(2, 3, save("b", "1")), at(4, 5, change("2", null))];
  const explained = (...more: Event[]) =>
    byMemory([...events, ...more]).every((part) => explain(part) === null);
  const cleared = at(1.9, 9, { kind: "clear", count: 2 });
  expect(explained(cleared, at(6, 7, all(["a", "2"], ["b", "1"])), at(10, 11, all()))).toBe(true);
  expect(explained(at(1.5, 6, all(["a", "2"])))).toBe(true);
  expect(explained(at(3.5, 6, all(["a", "2"])))).toBe(false);
  expect(explained(at(6, 7, all(["a", "1"], ["b", "1"])))).toBe(false);
  expect(explained(at(6, 7, remove), at(8, 9, all(["b", "1"])))).toBe(true);
  expect(explained(at(6, 7, remove), at(8, 9, all(["a", "2"], ["b", "1"])))).toBe(false);
});

test("a slow read may lack a memory because of a removal that began long after the memory was last seen", () => {
  const absent: Call = { kind: "remove", id: "a", answer: "absent" };
  const cleared = at(5_000, 5_500, { kind: "clear", count: 1 });
  const explained = (...more: Event[]) =>
    byMemory([at(0, 1, save("a", "1")), ...more]).every((part) => explain(part) === null);
  expect(explained(at(1_000, 9_000, absent), cleared)).toBe(true);
  expect(explained(at(1_000, 9_000, all()), cleared)).toBe(true);
  expect(explained(at(1_000, 4_000, absent), cleared)).toBe(false);
  expect(explained(at(1_000, 9_000, absent))).toBe(false);
});
