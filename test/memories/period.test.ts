import { afterAll, expect, test } from "bun:test";
import { isOf, readPeriod } from "../../src/memories/ranking/period.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

/** A Wednesday. */
const NOW = Date.parse("2024-05-15T18:30:00Z");
const daysOf = (question: string) => {
  const period = readPeriod(question, NOW);
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  return period && `${day(period.from)} to ${day(period.to - 1)}`;
};

test.each([
  ["what was said on 2023-06-03?", "2023-06-03 to 2023-06-03"],
  ["lunch on 3 June 2023", "2023-06-03 to 2023-06-03"],
  ["lunch on the 3rd of June, 2023", "2023-06-03 to 2023-06-03"],
  ["lunch on june 3rd,2023", "2023-06-03 to 2023-06-03"],
  ["lunch on 3 June", "2023-06-03 to 2023-06-03"],
  ["lunch on Feb. 3", "2024-02-03 to 2024-02-03"],
  ["the trip in May 2023", "2023-05-01 to 2023-05-31"],
  ["31 June 2023", "2023-06-01 to 2023-06-30"],
  ["the trip in may", "2024-05-01 to 2024-05-31"],
  ["the trip in December", "2023-12-01 to 2023-12-31"],
  ["what happened in 2022", "2022-01-01 to 2022-12-31"],
  ["what did I eat today?", "2024-05-15 to 2024-05-15"],
  ["what did I eat Yesterday?", "2024-05-14 to 2024-05-14"],
  ["two days ago", "2024-05-13 to 2024-05-13"],
  ["a week ago", "2024-05-05 to 2024-05-11"],
  ["what did we decide last week", "2024-05-06 to 2024-05-12"],
  ["what did we decide this week", "2024-05-13 to 2024-05-19"],
  ["the budget of last month", "2024-04-01 to 2024-04-30"],
  ["what went well last year", "2023-01-01 to 2023-12-31"],
  ["the call last Wednesday", "2024-05-08 to 2024-05-08"],
  ["the call last Friday", "2024-05-10 to 2024-05-10"],
  ["what changed since March 2024", "2024-03-01 to 2024-05-15"],
  ["Was habe ich gestern gegessen?", "2024-05-14 to 2024-05-14"],
  ["Was war vorgestern?", "2024-05-13 to 2024-05-13"],
  ["Was habe ich letzte Woche gemacht?", "2024-05-06 to 2024-05-12"],
  ["die Kosten des letzten Monats", "2024-04-01 to 2024-04-30"],
  ["Was haben wir diesen Monat beschlossen?", "2024-05-01 to 2024-05-31"],
  ["das Gespräch vom letzten Freitag", "2024-05-10 to 2024-05-10"],
  ["vor zwei Tagen", "2024-05-13 to 2024-05-13"],
  ["vor einer Woche", "2024-05-05 to 2024-05-11"],
  ["Was war am 3. Juni 2023?", "2023-06-03 to 2023-06-03"],
  ["Was war am 1. März?", "2024-03-01 to 2024-03-01"],
  ["die Reise im Dezember", "2023-12-01 to 2023-12-31"],
  ["die Reise im März 2023", "2023-03-01 to 2023-03-31"],
  ["Was ist seit März 2024 neu?", "2024-03-01 to 2024-05-15"],
  ["Was geschah im Jahr 2022?", "2022-01-01 to 2022-12-31"],
])("%s: %s", (question, days) => {
  expect(daysOf(question)).toBe(days);
});

test.each([
  "who is Sam",
  "may we deploy on Friday",
  "may 5 people come",
  "version 10 may break",
  "march 3 steps on",
  "invoice 2023-0117",
  "invoice 2023-06-031",
  "room 2023",
  "2023-02-30",
  "plans for June 2025",
  "what did Sam do before May 2023",
  "Was war vor Mai 2023?",
  "Was galt vor dem 3. Juni 2023?",
  "Der Server heißt Maibaum",
  "die letzten Tage von Rom",
  "Wie heißt der Server heute?",
  "the last of us",
  "9999 days ago",
])("%s names no time that memories can be of", (question) => {
  expect(readPeriod(question, NOW)).toBeNull();
});

test("a period includes the days after it, when people tell what happened", () => {
  const period = readPeriod("in April 2024", NOW) ?? { from: 0, to: 0 };
  const isTold = (day: string) => isOf(period, Date.parse(day));
  expect(["2024-03-31", "2024-04-01", "2024-05-03", "2024-05-05"].map(isTold)).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test("the period of a hostile question is read quickly", () => {
  const started = performance.now();
  readPeriod(`${"1 ".repeat(900)}of${" ".repeat(150)}`, NOW);
  readPeriod(`${"last ".repeat(400)}`, NOW);
  // The time of embedding a sentence on a busy machine; backtracking would take minutes.
  expect(performance.now() - started).toBeLessThan(1_000);
});

const server = await startServer();
afterAll(server.close);

test("the words of a time need not be in a memory from that time for it to be known", async () => {
  const ada = await server.account();
  server.clock.advance(NOW - server.clock());
  const decided = "We decided to drop support for the old mobile app.";
  const lines = [
    JSON.stringify({ content: decided, created_at: "2024-04-10" }),
    ...["The tests run on every push.", "The logs go to the archive."].map((content) =>
      JSON.stringify({ content, created_at: "2023-01-01" }),
    ),
  ];
  await ada.send("POST", "/memories/import", {
    body: lines.join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  const score = async (question: string) => (await ada.search(question))[0]?.score ?? 0;
  const untimed = await score("What did we decide?");
  expect(await score("What did we decide in April 2024?")).toBeGreaterThan(untimed / 2);
});

test("of equally good memories, the one from the named time comes first", async () => {
  const ada = await server.account();
  server.clock.advance(NOW - server.clock());
  const days = ["2023-05-09", "2023-06-03", "2024-05-08", "2024-05-14"];
  const lines = days.map((day) =>
    JSON.stringify({ content: `Lunch with Bob on ${day}`, created_at: day }),
  );
  await ada.send("POST", "/memories/import", {
    body: lines.join("\n"),
    headers: { "content-type": "application/x-ndjson" },
  });
  const first = async (question: string) => contentsOf(await ada.search(question))[0]?.slice(-10);
  expect(await first("lunch with Bob in May 2023")).toBe("2023-05-09");
  expect(await first("lunch with Bob on 3 June 2023")).toBe("2023-06-03");
  expect(await first("lunch with Bob last week")).toBe("2024-05-08");
  expect(await first("lunch with Bob yesterday")).toBe("2024-05-14");
});
