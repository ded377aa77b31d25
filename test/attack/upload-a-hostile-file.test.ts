import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureParsing } from "../stalls/measure-parsing.ts";
import { type ProbedServer, startProbedServer } from "../stalls/probed-server.ts";
import { zip } from "../support/zip.ts";
import { hasPeaks, peakIn } from "./support/peak-memory.ts";

/** A step of the main thread as a multiple of what it takes to parse a megabyte: 100 ms on a quiet machine. */
const RATIO = 8;
/** Megabytes that the server may take for a file of a few. Its limit for a reader is 512. */
const ROOM = 300;
const IMPORT = "/memories/import";

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
let server: ProbedServer;
beforeAll(async () => {
  server = await startProbedServer(folder, "real");
  // The first uploads load the readers.
  await upload("first.csv", "text,tag\na,b\n");
  await upload("first.zip", zip([{ name: "a.md", content: "a" }]));
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

function formOf(name: string, content: string | Buffer): RequestInit {
  const body = new FormData();
  body.set("form_token", server.token);
  body.set("dry_run", "true");
  body.append("file", new File([new Uint8Array(Buffer.from(content as string))], name));
  return { method: "POST", body, headers: { cookie: `ctxd-session=${server.session}` } };
}

/** Uploads a file to see what an import would do. Gives the last text of the page. */
async function upload(name: string, content: string | Buffer): Promise<string> {
  const response = await fetch(`${server.origin}${IMPORT}`, formOf(name, content));
  const page = await response.text();
  expect(page.length).toBeLessThan(100_000);
  const [outcome = ""] = page.split('<div class="step">').at(-1)?.split('enctype="') ?? [];
  return outcome.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

/** Most megabytes of memory of the server since `forgetPeak`. */
const peak = () => peakIn(readFileSync(`/proc/${server.pid}/status`, "utf8"));
/** From now on the most is what it has now (proc_pid_clear_refs(5)). */
const forgetPeak = () => writeFileSync(`/proc/${server.pid}/clear_refs`, "5");
const LONG_NAME = "a".repeat(60_000);
const columns = (cell: string) => Array.from({ length: 100_000 }, (_, n) => `${cell}${n}`).join();

test.each<[string, RegExp, () => readonly [string, string | Buffer]]>([
  [
    "a document with an entry that is nested a hundred thousand times",
    /New 1 .*entry 2 is nested too deeply: the rest was not read/,
    () => {
      const deep = `${"[".repeat(1e5)}${"]".repeat(1e5)}`;
      return ["x.json", `[{"content":"a"},{"content":"b","metadata":{"x":${deep}}}]`];
    },
  ],
  [
    "a document of open brackets",
    /New 1 .*entry 2 is nested too deeply: the rest was not read/,
    () => ["x.json", `[{"content":"a"},{"content":${"[".repeat(20 << 20)}`],
  ],
  [
    "a document of empty lists",
    /New 1 .*entry 2 has too many values: the rest was not read/,
    () => ["x.json", `[{"content":"a"},{"content":[${"[],".repeat(5 << 20)}0]}]`],
  ],
  [
    "lines of empty lists",
    /New 1 .*line 2 is not a JSON object/,
    () => {
      const line = (observations: string) =>
        `{"type":"entity","name":"Ada","entityType":"person","observations":[${observations}]}`;
      return ["x.jsonl", `${line('"x"')}\n${line(`${"[],".repeat(5 << 20)}0`)}\n`];
    },
  ],
  [
    "a line that is nested a hundred thousand times",
    /New 1 .*line 2 is not a JSON object/,
    () => {
      const deep = `${"[".repeat(1e5)}${"]".repeat(1e5)}`;
      const first = '{"type":"entity","name":"Ada","entityType":"person","observations":["x"]}';
      return ["x.jsonl", `${first}\n{"type":"entity","name":"B","observations":${deep}}\n`];
    },
  ],
  [
    "a table of a hundred thousand columns",
    /has more than 16384 columns/,
    () => ["x.csv", `${columns("c")}\n${`${columns("")}\n`.repeat(20)}`],
  ],
  [
    "a table with a row of megabytes and a quotation mark that never ends",
    /New 1 .*line 3 is damaged: the rest was not read/,
    () => ["x.csv", `text,tag\na,b\n"${"c,d\n".repeat(4 << 20)}`],
  ],
  [
    "unreadable lines",
    /This file is not text in UTF-8/,
    () => ["x.txt", Buffer.alloc(8 << 20, Buffer.from([0xff, 0x0a]))],
  ],
  [
    "an archive with thousands of extensions",
    /New 1 .*others: /,
    () => {
      const parts = Array.from({ length: 20_000 }, (_, n) => ({ name: `a.x${n}`, content: "" }));
      return ["x.zip", zip([{ name: "a.md", content: "a" }, ...parts])];
    },
  ],
  [
    "an archive with the longest names",
    /New 12 /,
    () => {
      const parts = Array.from({ length: 12 }, (_, n) => n);
      return ["x.zip", zip(parts.map((n) => ({ name: `${LONG_NAME}${n}/a.md`, content: `${n}` })))];
    },
  ],
])(
  "%s is read beside other requests, in little memory, and its fault is named",
  async (_, said, make) => {
    if (hasPeaks) forgetPeak();
    const before = hasPeaks ? peak() : 0;
    await server.held();
    const [name, content] = make();
    expect(await upload(name, content)).toMatch(said);
    const { cpu } = await server.held();
    expect(cpu).toBeLessThan(RATIO * measureParsing());
    if (hasPeaks) expect(peak() - before).toBeLessThan(ROOM);
  },
);
