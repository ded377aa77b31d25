import { expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { applyChange, planChange } from "../../src/connect/change.ts";
import { findClient } from "../../src/connect/clients.ts";
import { readEntry, writeEntry } from "../../src/connect/entry.ts";
import { removeFolders } from "../../src/connect/files.ts";
import { temporaryFolder } from "../support/database.ts";

/** A file with servers in a new folder, and functions to connect and disconnect its client. */
function settings() {
  const folder = temporaryFolder();
  const path = join(folder, "mcp.json");
  const write = (entry: { url: string } | null) => {
    const client = findClient("cursor");
    if (!client) throw new Error("no client");
    const change = planChange(path, [
      {
        apply: (text, former) => writeEntry(client, text, entry, former),
        carry: (from, to) => writeEntry(client, to, readEntry(client, from), to),
      },
    ]);
    applyChange(change);
    if (change.isFree) removeFolders([change.file], true);
    return change;
  };
  return {
    folder,
    path,
    connect: (url = "https://memory.example.com") => write({ url }),
    remove: () => write(null),
    put: (text: string, name = "mcp.json") => writeFileSync(join(folder, name), text),
    get: (name = "mcp.json") => readFileSync(join(folder, name), "utf8"),
    names: () => readdirSync(folder).sort(),
  };
}

const COPY = "mcp.json.before-ctxd";
const MINE = '{ "mcpServers" : {}}';
const entry = (url: string) => JSON.stringify({ mcpServers: { a: {}, ctxd: { url } } });

test("the first copy of a person's file is never overwritten", () => {
  const { connect, remove, put, get, names } = settings();
  put(MINE);
  connect();
  connect("https://other.example.com");
  put(get().replace("{", '{ "theme": "dark",'));
  connect("https://third.example.com");
  expect(get(COPY)).toBe(MINE);
  // The entry is removed by hand, and more is changed, before the client is connected again.
  const later = '{"mcpServers": {}, "theme": "light"}\n';
  put(later);
  connect();
  expect([get(COPY), get(`${COPY}-2`)]).toEqual([MINE, later]);
  remove();
  expect(get()).toBe(later);
  expect(names()).toEqual(["mcp.json"]);
});

test("connecting the same file again uses the copy that is there", () => {
  const { connect, put, names } = settings();
  put(MINE);
  connect();
  put(MINE);
  connect();
  expect(names()).toEqual(["mcp.json", COPY]);
});

test("the copy of an earlier version that has ctxd's entry says nothing, and goes too", () => {
  const { connect, remove, put, get, names } = settings();
  put(entry("https://first"), COPY);
  put(entry("https://second"));
  connect();
  expect(get(COPY)).toBe(entry("https://first"));
  remove();
  expect(get()).toBe('{"mcpServers":{"a":{}}}');
  expect(names()).toEqual(["mcp.json"]);

  // The earlier version left such a copy when it disconnected, too.
  put(entry("https://second"), COPY);
  expect(remove().copies.map(({ path }) => path)).toEqual([expect.stringContaining(COPY)]);
  expect(names()).toEqual(["mcp.json"]);
});

test("a file with an entry that ctxd has no copy of is copied before it is changed", () => {
  const { connect, remove, put, get, names } = settings();
  put(entry("https://by-hand"));
  connect();
  connect("https://other.example.com");
  expect(get(COPY)).toBe(entry("https://by-hand"));
  remove();
  expect(get()).toBe('{"mcpServers":{"a":{}}}');
  expect(names()).toEqual(["mcp.json"]);
});

test("copies of other files, and what only looks like a copy, stay", () => {
  const { folder, connect, remove, put, names } = settings();
  const others = [`${COPY}.mine`, `${COPY}-x`, "other.json.before-ctxd"];
  for (const name of others) put("{}", name);
  mkdirSync(join(folder, `${COPY}-7`));
  writeFileSync(join(folder, `${COPY}-8`), "\xff\xfe", "latin1");
  symlinkSync("other.json", join(folder, `${COPY}-9`));
  put("{}", "other.json");
  put(MINE);
  connect();
  expect(names()).toContain(COPY);
  remove();
  const odd = [7, 8, 9].map((number) => `${COPY}-${number}`);
  expect(names()).toEqual(["mcp.json", "other.json", ...others, ...odd].sort());
});

test("a symbolic link to a file that has nothing but ctxd's entry stays a link", () => {
  const { folder, path, connect, remove, get, names } = settings();
  const real = join(temporaryFolder(), "real.json");
  writeFileSync(real, '{\n  "mcpServers": {\n    "ctxd": { "url": "x" }\n  }\n}\n');
  symlinkSync(real, path);
  connect();
  remove();
  expect(names()).toEqual(["mcp.json"]);
  expect(get()).toBe("{}\n");
  expect(existsSync(folder)).toBe(true);
});

test("folders that were created are removed when they are empty, the inner ones first", () => {
  const { folder } = settings();
  const paths = ["settings.json", join("b", "c", "plugin.js")].map((name) =>
    join(folder, "a", name),
  );
  const part = (text: string) => ({
    apply: () => text,
    carry: (from: string, to: string) => from || (to && ""),
  });
  /** Writes the files, or removes those whose text is empty. */
  const set = (texts: string[], isLast = true) => {
    const changes = texts.map((text, index) => planChange(paths[index] ?? "", [part(text)]));
    for (const change of changes) applyChange(change);
    const free = changes.filter(({ isFree }) => isFree);
    removeFolders(
      free.map(({ file }) => file),
      isLast,
    );
  };
  set(["ours", "ours"]);
  expect(paths.map((path) => existsSync(path))).toEqual([true, true]);
  set(["", ""]);
  expect(readdirSync(folder)).toEqual([]);
  // While one is needed, the folder around it is remembered.
  set(["ours", "ours"]);
  set(["ours", ""], false);
  expect(readdirSync(join(folder, "a")).sort()).toEqual([".created-by-ctxd", "settings.json"]);
  set(["", ""]);
  expect(readdirSync(folder)).toEqual([]);
  // A folder with files of others stays, without the mark.
  set(["ours", "ours"]);
  writeFileSync(join(folder, "a", "notes.md"), "mine");
  set(["", ""]);
  expect(readdirSync(folder, { recursive: true })).toEqual(["a", join("a", "notes.md")]);
});

test("a file that is read-only keeps its text and its copy", () => {
  const { path, connect, remove, put, get, names } = settings();
  put(MINE);
  connect();
  const connected = get();
  chmodSync(path, 0o444);
  expect(remove).toThrow("is read-only");
  expect(get()).toBe(connected);
  expect(names()).toEqual(["mcp.json", COPY]);
});
