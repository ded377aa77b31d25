import { beforeEach, describe, expect, test } from "bun:test";
import { ANSWER_LIFETIME, AnswersTaken, type Log } from "../../../src/memories/log/log.ts";
import type { Answer, Checkpoint, Entry } from "../../../src/memories/log/records.ts";

/** A database with the accounts acc_0, acc_1 and acc_2 and nothing of the log, for one test. */
export interface LogPlace {
  /** Opens the log as a process does that starts. */
  open(): Log;
  /** Ends the process that has it open, with nothing tidied up. */
  crash(): void | Promise<void>;
  /** Adds an account and gives its id. */
  addAccount(): Promise<string>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (written: Uint8Array | null) => written && new TextDecoder().decode(written);

/** An entry that adds a memory with so many bytes of text. */
export const entryOf = (written: string, more: Partial<Entry> = {}): Entry => ({
  written: bytes(written),
  removed: [],
  model: "model",
  hasRemains: false,
  usage: { memories: 1, bytes: written.length },
  answers: [],
  ...more,
});

const checkpointOf = (upTo: number, base = "acc_1.0a0b0c0d", version = 1): Checkpoint => ({
  ...{ base, version, upTo },
  files: [`_versions/${version}.manifest`, "data/1.lance"],
});

/** What every log does, whatever keeps it. @param create is called before each test */
export function describeLog(name: string, create: () => LogPlace | Promise<LogPlace>): void {
  describe(name, () => {
    let place: LogPlace;
    let log: Log;
    beforeEach(async () => {
      place = await create();
      log = place.open();
    });
    const reopen = async () => {
      await place.crash();
      log = place.open();
    };
    const textsOf = async (table: string) =>
      (await log.entries(table)).map(({ written }) => text(written));
    const answerOf = (accountId: string, more: Partial<Answer> = {}): Answer => ({
      ...{ accountId, keyHash: "k", requestHash: "r", memoryIds: ["mem_1", "mem_2"] },
      createdAt: 1_000_000,
      ...more,
    });

    test("entries of a table come back as they were appended, in that order, also after a crash", async () => {
      const first = await log.append("acc_1", entryOf("one"));
      await log.append("acc_2", entryOf("of another"));
      const removal = { written: null, removed: ["mem_1", "mem_2"], hasRemains: true };
      const second = await log.append("acc_1", entryOf("", removal));
      const third = await log.append("acc_1", entryOf("three"));
      expect(first).toBeLessThan(second);
      expect(second).toBeLessThan(third);
      const wanted = [
        { seq: first, written: "one", removed: [], hasRemains: false },
        { seq: second, written: null, removed: ["mem_1", "mem_2"], hasRemains: true },
        { seq: third, written: "three", removed: [], hasRemains: false },
      ];
      for (let round = 0; round < 2; round++) {
        const found = await log.entries("acc_1");
        expect(found.map((entry) => ({ ...entry, written: text(entry.written) }))).toEqual(wanted);
        expect(await log.size()).toBe(4);
        await reopen();
      }
    });

    test("the head has the newest entry and what the table holds after it", async () => {
      expect(await log.head("acc_1")).toBeNull();
      await log.append("acc_1", entryOf("one", { usage: { memories: 1, bytes: 3 } }));
      const seq = await log.append("acc_1", entryOf("two", { usage: { memories: 2, bytes: 6 } }));
      await log.append("acc_2", entryOf("three", { usage: { memories: 7, bytes: 8 } }));
      await reopen();
      const usage = { memories: 2, bytes: 6 };
      expect(await log.head("acc_1")).toEqual({ seq, usage, checkpoint: null });
    });

    test("an account is told when the first memory of its table has expired, until that is known to be later", async () => {
      const place = (expiresAt: number | null) => log.append("acc_1", entryOf("x", { expiresAt }));
      await log.append("acc_2", entryOf("another", { expiresAt: null }));
      expect(await log.expired(5_000, 9)).toEqual([]);
      await place(3_000);
      await place(2_000);
      const seq = await place(4_000);
      await place(null);
      expect(await log.expired(1_999, 9)).toEqual([]);
      await reopen();
      expect(await log.expired(2_000, 9)).toEqual(["acc_1"]);
      // An entry has come since.
      expect(await log.setExpiry("acc_1", seq, 9_000)).toBe(false);
      const newest = await place(null);
      expect(await log.setExpiry("acc_1", newest, 3_000)).toBe(true);
      expect(await log.expired(2_999, 9)).toEqual([]);
      expect(await log.expired(3_000, 9)).toEqual(["acc_1"]);
      expect(await log.setExpiry("acc_1", newest, null)).toBe(true);
      expect(await log.expired(5_000, 9)).toEqual([]);
    });

    test("of accounts where something has expired those come first that have waited longest", async () => {
      for (const [table, expiresAt] of [
        ["acc_0", 30],
        ["acc_1", 10],
        ["acc_2", 20],
      ] as const) {
        await log.append(table, entryOf("x", { expiresAt }));
      }
      // A copy for another model is not the account's table.
      await log.append("acc_1.01234567", entryOf("x", { expiresAt: 1 }));
      expect(await log.expired(50, 2)).toEqual(["acc_1", "acc_2"]);
    });

    test("of a slice of a larger buffer only the slice is written", async () => {
      await log.append("acc_1", entryOf("", { written: bytes("a slice of it").subarray(2, 7) }));
      expect(await textsOf("acc_1")).toEqual(["slice"]);
    });

    test("50 entries at once, of several tables, are all there, each table's in the order of their numbers", async () => {
      const numbers = Array.from({ length: 50 }, (_, n) => n);
      const seqs = await Promise.all(
        numbers.map((n) => log.append(`acc_${n % 3}`, entryOf(`number ${n}`))),
      );
      const numbered = numbers.map((n) => `${n % 3} ${seqs[n]}`);
      expect(new Set(numbered).size).toBe(50);
      await reopen();
      for (const table of [0, 1, 2]) {
        const own = numbers.filter((n) => n % 3 === table);
        own.sort((one, other) => (seqs[one] ?? 0) - (seqs[other] ?? 0));
        expect(await textsOf(`acc_${table}`)).toEqual(own.map((n) => `number ${n}`));
      }
    });

    test("an entry that breaks a rule leaves nothing, and those beside it are there", async () => {
      const answers = [answerOf("acc_unknown")];
      const appended = await Promise.allSettled([
        log.append("acc_1", entryOf("before")),
        log.append("acc_unknown", entryOf("broken", { answers })),
        log.append("acc_1", entryOf("after")),
      ]);
      expect(appended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
      await reopen();
      expect((await textsOf("acc_1")).sort()).toEqual(["after", "before"]);
      expect(await textsOf("acc_unknown")).toEqual([]);
      expect(await log.tables()).toEqual(["acc_1"]);
      expect(await log.answer("acc_unknown", "k", 0)).toBeNull();
    });

    test("an answer is there with its entry, and is the account's own", async () => {
      const [id, other] = [await place.addAccount(), await place.addAccount()];
      const answer = answerOf(id);
      await log.append(id, entryOf("one", { answers: [answer] }));
      await reopen();
      expect(await log.answer(id, "k", 0)).toEqual(answer);
      expect(await log.answer(id, "another", 0)).toBeNull();
      expect(await log.answer(other, "k", 0)).toBeNull();
      expect(await log.answer(id, "k", answer.createdAt - 1)).toEqual(answer);
      expect(await log.answer(id, "k", answer.createdAt)).toBeNull();
    });

    test("an answer takes the place of an expired one with its key, and of no other", async () => {
      const id = await place.addAccount();
      const append = (...answers: Answer[]) => log.append(id, entryOf("x", { answers }));
      await append(answerOf(id), answerOf(id, { keyHash: "later", createdAt: 1_000_001 }));
      const now = 1_000_000 + ANSWER_LIFETIME;
      const soon = append(answerOf(id, { createdAt: now - 1 }), answerOf(id, { keyHash: "new" }));
      const error = await soon.catch((cause) => cause);
      expect(error).toBeInstanceOf(AnswersTaken);
      expect(error.answers).toMatchObject([{ accountId: id, keyHash: "k" }]);
      expect(await log.size()).toBe(1);
      expect(await log.answer(id, "new", 0)).toBeNull();
      await append(answerOf(id, { createdAt: now, memoryIds: ["mem_9"] }));
      const found = (key: string) => log.answer(id, key, 0);
      expect((await found("k"))?.memoryIds).toEqual(["mem_9"]);
      expect(await found("later")).not.toBeNull();
      expect(await textsOf(id)).toEqual(["x", "x"]);
    });

    test("a checkpoint takes the place of the table's entries up to its number and of no others", async () => {
      await log.append("acc_1", entryOf("one"));
      await log.append("acc_2", entryOf("of another"));
      const upTo = await log.append("acc_1", entryOf("two"));
      const seq = await log.append("acc_1", entryOf("three"));
      await log.checkpoint("acc_1", checkpointOf(upTo));
      await reopen();
      expect(await textsOf("acc_1")).toEqual(["three"]);
      expect(await textsOf("acc_2")).toEqual(["of another"]);
      const usage = { memories: 1, bytes: 5 };
      expect(await log.head("acc_1")).toEqual({ seq, usage, checkpoint: checkpointOf(upTo) });
      expect((await log.unflushed()).sort()).toEqual(["acc_1", "acc_2"]);

      const later = checkpointOf(seq, "acc_1.ffffffff", 7);
      await log.checkpoint("acc_1", later);
      expect((await log.head("acc_1"))?.checkpoint).toEqual(later);
      expect(await log.unflushed()).toEqual(["acc_2"]);
    });

    test("only what checkpoints include is expunged, also after a crash", async () => {
      const upTo = await log.append("acc_1", entryOf("one"));
      await log.append("acc_1", entryOf("two"));
      await log.append("acc_2", entryOf("of another"));
      await log.checkpoint("acc_1", checkpointOf(upTo));
      expect(await log.size()).toBe(3);
      await reopen();
      expect(await log.expunge()).toBe(true);
      expect(await log.size()).toBe(2);
      expect(await textsOf("acc_1")).toEqual(["two"]);
      expect(await textsOf("acc_2")).toEqual(["of another"]);
    });

    test("numbers go up also when all entries were dropped", async () => {
      const upTo = await log.append("acc_1", entryOf("one"));
      await log.checkpoint("acc_1", checkpointOf(upTo));
      await log.expunge();
      await reopen();
      expect(await log.append("acc_1", entryOf("two"))).toBeGreaterThan(upTo);
    });

    test("a table that was never written to may have a checkpoint", async () => {
      await log.checkpoint("acc_1.0a0b0c0d", checkpointOf(3));
      const head = { seq: 3, usage: null, checkpoint: checkpointOf(3) };
      expect(await log.head("acc_1.0a0b0c0d")).toEqual(head);
      expect(await log.tables()).toEqual(["acc_1.0a0b0c0d"]);
    });

    test("of a forgotten table nothing is known, of others all", async () => {
      for (const table of ["acc_1", "acc_1.0a0b0c0d", "acc_2"]) {
        await log.checkpoint(table, checkpointOf(await log.append(table, entryOf("one"))));
        await log.append(table, entryOf("two"));
      }
      await log.setCurrent("acc_1", { name: "acc_1", model: "m" });
      await log.setCurrent("acc_2", { name: "acc_2", model: "m" });
      await log.forget(["acc_1", "acc_1.0a0b0c0d"]);
      await reopen();
      expect(await log.tables()).toEqual(["acc_2"]);
      expect(await log.unflushed()).toEqual(["acc_2"]);
      expect(await log.head("acc_1")).toBeNull();
      expect(await textsOf("acc_1")).toEqual([]);
      expect(await log.current("acc_1")).toBeNull();
      expect(await textsOf("acc_2")).toEqual(["two"]);
      expect(await log.current("acc_2")).toEqual({ name: "acc_2", model: "m" });
      await log.forget([]);
      expect(await log.tables()).toEqual(["acc_2"]);
    });

    test("another table takes the place of an account's", async () => {
      expect(await log.current("acc_1")).toBeNull();
      await log.setCurrent("acc_1", { name: "acc_1", model: "old" });
      await log.append("acc_1", entryOf("one"));
      await log.setCurrent("acc_1", { name: "acc_1", model: "corrected" });
      expect(await textsOf("acc_1")).toEqual(["one"]);
      await log.append("acc_1.0a0b0c0d", entryOf("two"));
      await log.setCurrent("acc_1", { name: "acc_1.0a0b0c0d", model: "new" });
      await reopen();
      expect(await log.current("acc_1")).toEqual({ name: "acc_1.0a0b0c0d", model: "new" });
      expect(await textsOf("acc_1.0a0b0c0d")).toEqual(["two"]);
      await log.forget(["acc_1"]);
      expect(await log.tables()).toEqual(["acc_1.0a0b0c0d"]);
      expect(await log.current("acc_1")).toEqual({ name: "acc_1.0a0b0c0d", model: "new" });
      await log.setCurrent("acc_2", { name: "acc_2", model: "new" });
      expect((await log.allCurrent()).map(({ accountId, name }) => [accountId, name])).toEqual([
        ["acc_1", "acc_1.0a0b0c0d"],
        ["acc_2", "acc_2"],
      ]);
    });
  });
}
