import { expect, test } from "bun:test";
import type { Base } from "../../src/memories/base/base.ts";
import { embedQuery, storedMemory } from "../support/bases.ts";
import { openKeptTable, tableStorage } from "../support/kept-table.ts";

/** Searches that may read a base at the same time. */
const MAX_READING = 4;

test("many searches at once do not all read the base while memory is being filled", async () => {
  const storage = await tableStorage();
  const writing = await openKeptTable(storage);
  const subjects = ["ferry", "harbour", "violin", "orchard"];
  const memories = Array.from({ length: 40 }, (_, number) =>
    storedMemory(number, { content: `the ${subjects[number % 4]} of number ${number}` }),
  );
  await writing.put(...(await Promise.all(memories)));
  await writing.flush.run("flush");
  await writing.flush.run("index");
  await writing.close();

  let [running, most] = [0, 0];
  const search = async (base: Base, ...question: Parameters<Base["search"]>) => {
    most = Math.max(most, ++running);
    try {
      return await base.search(...question);
    } finally {
      running--;
    }
  };
  const counted = (base: Base) =>
    new Proxy(base, {
      get: (target, name, receiver) =>
        name === "search"
          ? (...question: Parameters<Base["search"]>) => search(target, ...question)
          : Reflect.get(target, name, receiver),
    });
  const { log, bases } = storage;
  const open: typeof bases.open = async (...args) => counted(await bases.open(...args));
  const { table, close } = await openKeptTable({ log, bases: { ...bases, open } });
  const ask = async (number: number) => {
    const text = `which ${subjects[number % 4]}`;
    const vector = await embedQuery(text);
    const question = { vector, words: text, filter: {}, limit: 5, least: 5 };
    const { candidates } = await table.candidates(question);
    return candidates.map(({ memory }) => memory.id).sort();
  };
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  const found = await Promise.all(numbers.map(ask));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(MAX_READING);
  expect(table.view.current).not.toBeNull();
  expect(found).toEqual(await Promise.all(numbers.map(ask)));
  await close();
});
