import { beforeEach, describe, expect, test } from "bun:test";
import { ANSWER_LIFETIME, AnswersTaken } from "../../../src/memories/log/log.ts";
import type { IdempotencyRecord } from "../../../src/memories/log/records.ts";
import {
  answerOf,
  bytes,
  checkpointOf,
  entryOf,
  type LogPlace,
  type LogUnderTest,
  recordBase,
  text,
} from "./log-under-test.ts";

/** The contract of every log. @param create opens an empty place before each test */
export function describeLog(name: string, create: () => LogPlace | Promise<LogPlace>): void {
  describe(name, () => {
    const state = {} as LogUnderTest;
    beforeEach(async () => {
      const place = await create();
      Object.assign(state, {
        place,
        log: place.open(),
        async reopen() {
          await place.crash();
          state.log = place.open();
        },
        textsOf: async (table: string) =>
          (await state.log.entries(table)).map(({ written }) => text(written)),
      });
    });
    describeEntries(state);
    describeExpiry(state);
    describeAnswers(state);
    describeCheckpoints(state);
    describeTables(state);
    describeLikenesses(state);
  });
}

function describeEntries(state: LogUnderTest): void {
  test("entries are read as they were appended and in that order, also after a crash", async () => {
    const first = await state.log.append("acc_1", entryOf("one"));
    await state.log.append("acc_2", entryOf("of another"));
    const removal = { written: null, removed: ["mem_1", "mem_2"], leavesOldData: true };
    const second = await state.log.append("acc_1", entryOf("", removal));
    const third = await state.log.append("acc_1", entryOf("three"));
    expect(first).toBeLessThan(second);
    expect(second).toBeLessThan(third);
    const wanted = [
      { seq: first, written: "one", removed: [], leavesOldData: false },
      { seq: second, written: null, removed: ["mem_1", "mem_2"], leavesOldData: true },
      { seq: third, written: "three", removed: [], leavesOldData: false },
    ];
    for (let round = 0; round < 2; round++) {
      const found = await state.log.entries("acc_1");
      expect(found.map((entry) => ({ ...entry, written: text(entry.written) }))).toEqual(wanted);
      expect(await state.log.size()).toBe(4);
      await state.reopen();
    }
  });

  test("the head has the newest entry's number and the usage after it", async () => {
    expect(await state.log.head("acc_1")).toBeNull();
    await state.log.append("acc_1", entryOf("one", { usage: { memories: 1, bytes: 3 } }));
    const seq = await state.log.append(
      "acc_1",
      entryOf("two", { usage: { memories: 2, bytes: 6 } }),
    );
    await state.log.append("acc_2", entryOf("three", { usage: { memories: 7, bytes: 8 } }));
    await state.reopen();
    const usage = { memories: 2, bytes: 6 };
    expect(await state.log.head("acc_1")).toEqual({ seq, usage, checkpoint: null });
  });

  test("an entry that is a slice of a larger buffer is written without the rest of the buffer", async () => {
    await state.log.append(
      "acc_1",
      entryOf("", { written: bytes("a slice of it").subarray(2, 7) }),
    );
    expect(await state.textsOf("acc_1")).toEqual(["slice"]);
  });

  test("50 entries appended at once are all stored, in the order of their numbers", async () => {
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const seqs = await Promise.all(
      numbers.map((n) => state.log.append(`acc_${n % 3}`, entryOf(`number ${n}`))),
    );
    const numbered = numbers.map((n) => `${n % 3} ${seqs[n]}`);
    expect(new Set(numbered).size).toBe(50);
    await state.reopen();
    for (const table of [0, 1, 2]) {
      const own = numbers.filter((n) => n % 3 === table);
      own.sort((one, other) => (seqs[one] ?? 0) - (seqs[other] ?? 0));
      expect(await state.textsOf(`acc_${table}`)).toEqual(own.map((n) => `number ${n}`));
    }
  });

  test("an invalid entry leaves nothing, and entries of the same transaction are stored", async () => {
    const answers = [answerOf("acc_unknown")];
    const appended = await Promise.allSettled([
      state.log.append("acc_1", entryOf("before")),
      state.log.append("acc_unknown", entryOf("broken", { answers })),
      state.log.append("acc_1", entryOf("after")),
    ]);
    expect(appended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await state.reopen();
    expect((await state.textsOf("acc_1")).sort()).toEqual(["after", "before"]);
    expect(await state.textsOf("acc_unknown")).toEqual([]);
    expect(await state.log.tables()).toEqual(["acc_1"]);
    expect(await state.log.answer("acc_unknown", "k", 0)).toBeNull();
  });

  test("numbers rise also after all entries were removed", async () => {
    const upTo = await state.log.append("acc_1", entryOf("one"));
    await recordBase(state.log, "acc_1", checkpointOf(upTo));
    await state.log.expunge();
    await state.reopen();
    expect(await state.log.append("acc_1", entryOf("two"))).toBeGreaterThan(upTo);
  });
}

function describeExpiry(state: LogUnderTest): void {
  test("an account is listed from the time when a memory of its table expires, until a later time is recorded", async () => {
    const place = (expiresAt: number | null) =>
      state.log.append("acc_1", entryOf("x", { expiresAt }));
    await state.log.append("acc_2", entryOf("another", { expiresAt: null }));
    expect(await state.log.expired(5_000, 9)).toEqual([]);
    await place(3_000);
    await place(2_000);
    const seq = await place(4_000);
    await place(null);
    expect(await state.log.expired(1_999, 9)).toEqual([]);
    await state.reopen();
    expect(await state.log.expired(2_000, 9)).toEqual(["acc_1"]);
    // An entry has come since.
    expect(await state.log.setExpiry("acc_1", seq, 9_000)).toBe(false);
    const newest = await place(null);
    expect(await state.log.setExpiry("acc_1", newest, 3_000)).toBe(true);
    expect(await state.log.expired(2_999, 9)).toEqual([]);
    expect(await state.log.expired(3_000, 9)).toEqual(["acc_1"]);
    expect(await state.log.setExpiry("acc_1", newest, null)).toBe(true);
    expect(await state.log.expired(5_000, 9)).toEqual([]);
  });

  test("accounts with expired memories are listed longest expired first", async () => {
    for (const [table, expiresAt] of [
      ["acc_0", 30],
      ["acc_1", 10],
      ["acc_2", 20],
    ] as const) {
      await state.log.append(table, entryOf("x", { expiresAt }));
    }
    // A copy for another model is not the account's table.
    await state.log.append("acc_1.01234567", entryOf("x", { expiresAt: 1 }));
    expect(await state.log.expired(50, 2)).toEqual(["acc_1", "acc_2"]);
  });
}

function describeAnswers(state: LogUnderTest): void {
  test("an answer is stored with its entry, and only its account finds it", async () => {
    const [id, other] = [await state.place.addAccount(), await state.place.addAccount()];
    const answer = answerOf(id);
    await state.log.append(id, entryOf("one", { answers: [answer] }));
    await state.reopen();
    expect(await state.log.answer(id, "k", 0)).toEqual(answer);
    expect(await state.log.answer(id, "another", 0)).toBeNull();
    expect(await state.log.answer(other, "k", 0)).toBeNull();
    expect(await state.log.answer(id, "k", answer.createdAt - 1)).toEqual(answer);
    expect(await state.log.answer(id, "k", answer.createdAt)).toBeNull();
  });

  test("an answer replaces an expired answer with the same key, and no other", async () => {
    const id = await state.place.addAccount();
    const append = (...answers: IdempotencyRecord[]) =>
      state.log.append(id, entryOf("x", { answers }));
    await append(answerOf(id), answerOf(id, { keyHash: "later", createdAt: 1_000_001 }));
    const now = 1_000_000 + ANSWER_LIFETIME;
    const soon = append(answerOf(id, { createdAt: now - 1 }), answerOf(id, { keyHash: "new" }));
    const error = await soon.catch((cause) => cause);
    expect(error).toBeInstanceOf(AnswersTaken);
    expect(error.answers).toMatchObject([{ accountId: id, keyHash: "k" }]);
    expect(await state.log.size()).toBe(1);
    expect(await state.log.answer(id, "new", 0)).toBeNull();
    await append(answerOf(id, { createdAt: now, memoryIds: ["mem_9"] }));
    const found = (key: string) => state.log.answer(id, key, 0);
    expect((await found("k"))?.memoryIds).toEqual(["mem_9"]);
    expect(await found("later")).not.toBeNull();
    expect(await state.textsOf(id)).toEqual(["x", "x"]);
  });
}

function describeCheckpoints(state: LogUnderTest): void {
  test("a checkpoint replaces the table's entries up to its number, and no others", async () => {
    await state.log.append("acc_1", entryOf("one"));
    await state.log.append("acc_2", entryOf("of another"));
    const upTo = await state.log.append("acc_1", entryOf("two"));
    const seq = await state.log.append("acc_1", entryOf("three"));
    await recordBase(state.log, "acc_1", checkpointOf(upTo));
    await state.reopen();
    expect(await state.textsOf("acc_1")).toEqual(["three"]);
    expect(await state.textsOf("acc_2")).toEqual(["of another"]);
    const usage = { memories: 1, bytes: 5 };
    expect(await state.log.head("acc_1")).toEqual({ seq, usage, checkpoint: checkpointOf(upTo) });

    const later = checkpointOf(seq, "acc_1.ffffffff", 7);
    await recordBase(state.log, "acc_1", later);
    expect((await state.log.head("acc_1"))?.checkpoint).toEqual(later);
  });

  test("only entries that checkpoints include are expunged, also after a crash", async () => {
    const upTo = await state.log.append("acc_1", entryOf("one"));
    await state.log.append("acc_1", entryOf("two"));
    await state.log.append("acc_2", entryOf("of another"));
    await recordBase(state.log, "acc_1", checkpointOf(upTo));
    expect(await state.log.size()).toBe(3);
    await state.reopen();
    expect(await state.log.expunge()).toBe(true);
    expect(await state.log.size()).toBe(2);
    expect(await state.textsOf("acc_1")).toEqual(["two"]);
    expect(await state.textsOf("acc_2")).toEqual(["of another"]);
  });
}

function describeTables(state: LogUnderTest): void {
  test("the table of an account's first entry is its current one", async () => {
    expect(await state.log.current("acc_1")).toBeNull();
    await state.log.append("acc_1", entryOf("one"));
    await state.log.append("acc_2", entryOf("two", { model: "other" }));
    await state.log.append("acc_2", entryOf("three"));
    await state.reopen();
    expect((await state.log.tables()).sort()).toEqual(["acc_1", "acc_2"]);
    expect(await state.log.current("acc_1")).toEqual({ name: "acc_1", model: "model" });
    expect(await state.log.allCurrent()).toEqual([
      { accountId: "acc_1", name: "acc_1", model: "model" },
      { accountId: "acc_2", name: "acc_2", model: "other" },
    ]);
  });
}

function describeLikenesses(state: LogUnderTest): void {
  test("many likenesses are read in pages, each once, and what is left of a parcel is compared later", async () => {
    const { log } = state;
    await log.append("acc_1", entryOf("one"));
    const found = Array.from({ length: 4_001 }, (_, at) => ({
      later: `mem_${Math.floor(at / 3)}`,
      earlier: `mem_${at % 3}`,
      ...({ kind: "same", changedAt: at } as const),
    }));
    await log.likenesses.note("acc_1", ["mem_a", "mem_b", "mem_c"], []);
    const number = (await log.likenesses.state("acc_1")).parcel?.number ?? 0;
    const left = ["mem_b", "mem_c"];
    await log.likenesses.record("acc_1", found, { parcel: number, left }, null);
    expect((await log.likenesses.state("acc_1")).parcel).toEqual({ number, ids: left });
    const all = await log.likenesses.all("acc_1");
    const places = all.map(({ changedAt }) => changedAt).sort((a, b) => a - b);
    expect(places).toEqual(found.map(({ changedAt }) => changedAt));
    await log.likenesses.record("acc_1", [], { parcel: number, left: [] }, null);
    expect((await log.likenesses.state("acc_1")).parcel).toBeNull();
  });
}
