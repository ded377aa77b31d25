import { expect, test } from "bun:test";
import { join } from "node:path";
import { createHelpRoutes } from "../../src/dashboard/help/help-routes.tsx";
import { createUnrouted } from "../../src/http/errors.ts";
import { createRouteNames } from "../../src/http/observer.ts";
import { LIMITS } from "../../src/memories/model/memory.ts";
import type { Expression } from "../../src/secrets/own-patterns.ts";
import { PATTERNS, PLACEHOLDERS } from "../../src/secrets/patterns.ts";
import { measureParsing, PARSING_MS } from "../stalls/measure-parsing.ts";
import {
  builtBy,
  type Found,
  findExpressions,
  literalsOf,
} from "../support/regular-expressions.ts";
import { SOURCE } from "../support/source-files.ts";
import { worstInputs } from "../support/worst-inputs.ts";

/** Milliseconds that an expression may take on a quiet machine, on the longest text of a memory. */
const LIMIT = 50;
const LONGEST = 32_768;
/** Lengths of hostile texts, so that an expression that takes very long does so on a short one. */
const LENGTHS = [24, 32, 400, 2_048, LONGEST];
/** Milliseconds: who takes less for the last but one length takes less than the limit for the last. */
const QUICK = 0.15;

/** Expressions that read shorter texts: the path, the beginning of the source, and the most characters of a text. */
const SHORTER: readonly [path: string, beginning: string, most: number][] = [
  // `MAX_HARMLESS`
  ["secrets, harmless", "", 300],
  // Both cut the text before they test it.
  ["embedding/passages.ts", "[.!?。！？\\n]", 64],
  ["memories/ranking/fact-text.ts", "(?:^|[.!?:;\\n]", 4],
  // Questions.
  ["memories/ranking/question.ts", "\\bbefore\\b", LIMITS.query],
  // Lines of the files of the program itself.
  ["pages/styles.ts", "^[^\\S\\n]*(?:", 4_096],
];

const ROUTES = ["/a/:id", "/a/:id/b/:id", "/a/*", "/a"].map((path) => ({ method: "GET", path }));
/** Work that builds expressions later than at the import of a file. */
const WORK: Record<string, () => unknown> = {
  "dashboard/help/help-search.tsx": () =>
    createHelpRoutes().handle(new Request("http://localhost/help?q=a+server+with+memories")),
  "http/errors.ts": () => createUnrouted(ROUTES),
  "http/observer.ts": () => createRouteNames(ROUTES),
};
/** Files that build expressions only for what this machine or the build says. */
const LOCAL = [
  "connect/hooks.ts",
  "cli/commands/connect/remote.ts",
  "native/asset.ts",
  "build/bundle.ts",
];
/** Its expressions are data, and measured as such. */
const OF_DATA = ["secrets/find-secrets.ts"];

/** Milliseconds of the processor, which come in steps, and of the clock, which include the work of others. */
function measure(work: () => unknown): { cpu: number; wall: number } {
  const [started, before] = [performance.now(), process.threadCpuUsage()];
  work();
  const { user, system } = process.threadCpuUsage(before);
  return { cpu: (user + system) / 1_000, wall: performance.now() - started };
}

/** The expression's longest time, with the input that takes it. */
function slowest(expression: RegExp, longest: number, limit: number) {
  const flags = expression.flags.replace(/[gy]/g, "");
  const single = new RegExp(expression.source, flags);
  const every = new RegExp(expression.source, `${flags}g`);
  const timeOf = (text: string) =>
    measure(() => {
      single.test(text);
      text.replaceAll(every, "");
      for (const _ of text.matchAll(every));
    });
  let worst = { took: 0, input: "" };
  for (const inputOf of worstInputs(expression)) {
    for (const length of LENGTHS) {
      const text = inputOf(Math.min(length, longest));
      let { cpu: took, wall } = timeOf(text);
      // A garbage collection does not come again.
      if (took > limit && took < 4 * limit) took = Math.min(took, timeOf(text).cpu);
      if (took > worst.took) worst = { took, input: text };
      if (took > limit) return worst;
      if (length >= longest || (length === LENGTHS.at(-2) && wall < QUICK)) break;
    }
  }
  return worst;
}

async function allExpressions(): Promise<Found[]> {
  const { written, builders } = await findExpressions();
  const found = [...written];
  for (const path of builders.filter((each) => ![...LOCAL, ...OF_DATA].includes(each))) {
    const work = WORK[path] ?? (() => import(`${join(SOURCE, path)}?built=${Math.random()}`));
    const built = await builtBy(work);
    // A file that builds no expression here must be named in a table above.
    expect({ path, built: built.length > 0 }).toEqual({ path, built: true });
    found.push(...built.map((expression) => ({ path, expression })));
  }
  const ofData = (path: string, list: readonly Expression[]) =>
    found.push(
      ...list.map(({ source, flags }) => ({ path, expression: new RegExp(source, flags) })),
    );
  ofData("secrets", PATTERNS);
  const harmless = PATTERNS.flatMap((each) => [
    ...(each.harmless ?? []),
    ...(each.harmlessMatch ?? []),
  ]);
  ofData("secrets, harmless", [...PLACEHOLDERS, ...harmless]);
  return found;
}

test("the expressions of a source are found, and divisions and texts are not", () => {
  const code = [
    "const a = 6 / b / 3, c = `/no/ $" + "{/d[/]e/g.test(x) ? '/no/' : \"/no/\"} /no/`;",
    "function f() { return /g\\/h/u; }",
    "call(/i/, [/j/, { k: /l/ }], m[0] / 2 / 3, (n) / 4 / 5);",
  ].join("\n");
  expect(literalsOf(code).map(String)).toEqual(["/d[/]e/g", "/g\\/h/u", "/i/", "/j/", "/l/"]);
});

test.each([/^(\d+\.?\d*)$/, /(a+)+$/, /\s+$/, /<a>(.*?)<\/a>/g])(
  "an expression that is slow on hostile texts is found: %p",
  (expression) => {
    expect(slowest(expression, 16_384, 20).took).toBeGreaterThan(20);
  },
);

test("no regular expression takes long, whatever it reads", async () => {
  const limit = LIMIT * (measureParsing() / PARSING_MS);
  const found = await allExpressions();
  expect(found.length).toBeGreaterThan(800);
  const slow = found.flatMap(({ path, expression }) => {
    const shorter = SHORTER.find(
      ([of, beginning]) => of === path && expression.source.startsWith(beginning),
    );
    const { took, input } = slowest(expression, shorter?.[2] ?? LONGEST, limit);
    const [start, end] = [JSON.stringify(input.slice(0, 40)), JSON.stringify(input.slice(-8))];
    return took > limit ? [`${path}: ${expression} took ${took} ms: ${start}…${end}`] : [];
  });
  expect(slow).toEqual([]);
});
