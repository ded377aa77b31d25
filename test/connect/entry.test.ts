import { describe, expect, test } from "bun:test";
import { parse } from "jsonc-parser";
import { type Client, ConnectError } from "../../src/connect/client.ts";
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import { readEntry, writeEntry } from "../../src/connect/entry.ts";
import { renderEntry } from "../../src/connect/format.ts";
import { createRandom, type Random } from "../support/random.ts";

const LAUNCH = { command: "/usr/local/bin/ctxd", args: ["mcp", "--agent", "x"] };
const URL = "https://memory.example.com/mcp";

function client(id: string): Client {
  const found = findClient(id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
}

/** Files of users. Every character outside our entry must stay unchanged. */
const FILES: Record<string, [what: string, text: string][]> = {
  cursor: [
    [
      "tabs, comments and trailing commas",
      '{\n\t// mine\n\t"mcpServers": {\n\t\t"a": { "command": "x" }, // a\n\t},\n}\n',
    ],
    ["no servers yet", '{\n    "other": [1, 2]\n}\n'],
    ["all in one line", '{"mcpServers":{"a":{"url":"x"}}}'],
    ["Windows line breaks", '{\r\n  "mcpServers": {\r\n    "a": { "url": "x" }\r\n  }\r\n}\r\n'],
    [
      "a comment after the last server",
      '{\n  "mcpServers": {\n    "a": {} // the last\n    /* end */\n  }\n}',
    ],
  ],
  codex: [
    [
      "tables, comments, dates",
      'model = "gpt-5" # best\nseen = 1979-05-27T07:32:00Z\n\n[mcp_servers.a]\ncommand = "x" # keep\nargs = ["a",   "b"]\n\n# about the screen\n[tui]\ntheme = \'dark\'\n',
    ],
    ["an array of tables", "[[notices]]\na = 1\n[[notices]]\na = 2\n"],
    ["dotted keys", 'mcp_servers.a.command = "x"\n'],
    ["Windows line breaks", "model = 'x'\r\n[tui]\r\nb = 1\r\n"],
    ["nothing", ""],
  ],
  goose: [
    [
      "comments, flow lists, blocks of text",
      'GOOSE_MODE: "smart_approve"\n\n# Extensions\nextensions:\n  developer:\n    bundled: true\n    type: builtin   # inside\n  \n  memory:\n    args: ["a",\n      b]\n    about: |\n      two\n      lines\n# after\nz: 1\n',
    ],
    ["four spaces", "extensions:\n    a:\n        type: stdio\n"],
    ["anchors", "extensions:\n  a: &x\n    q: 1\n  b: *x\n"],
    ["Windows line breaks", "a: 1\r\nextensions:\r\n  x:\r\n    y: 1\r\n"],
    ["an empty list", "extensions: {}\na: 'it''s'\n"],
  ],
};

/** Whether another text contains all characters of a text in the same order. */
function isWithin(text: string, other: string): boolean {
  let at = 0;
  for (const character of other) if (character === text[at]) at++;
  return at === text.length;
}

describe.each(Object.keys(FILES))("%s:", (id) => {
  test.each(FILES[id] ?? [])("%s", (_, text) => {
    const local = client(id).local(LAUNCH);
    const remote = client(id).remote({ url: URL, key: "ctx_k" });
    const written = writeEntry(client(id), text, local);
    expect(readEntry(client(id), written)).toEqual(local);
    expect(isWithin(text.replace("extensions: {}", "extensions:"), written)).toBe(true);
    expect(text.includes("\r") && /[^\r]\n/.test(written)).toBe(false);
    expect(writeEntry(client(id), written, local)).toBe(written);
    const switched = writeEntry(client(id), written, remote);
    expect(readEntry(client(id), switched)).toEqual(remote);
    expect(writeEntry(client(id), switched, local)).toBe(written);
    const removed = writeEntry(client(id), written, null, text);
    expect(readEntry(client(id), removed)).toBeNull();
    // A line break that was missing at the end stays.
    expect([text, `${text}\n`]).toContain(removed);
  });
});

test.each([
  ["cursor", "[1]", "is not an object of settings"],
  ["cursor", '{"mcpServers": []}', "no object of servers under mcpServers"],
  ["cursor", '{"mcpServers": {"ctxd": "x"}}', "no object under mcpServers.ctxd"],
  ["cursor", '{\n  "a": \n}', "is not valid JSON (line 3: value expected)"],
  ["cursor", '{"mcpServers": {"a": 1}, "mcpServers": {"b": 1}}', "form that ctxd can't change"],
  ["codex", "a = 1\nb =", "is not valid TOML (line 2: "],
  ["codex", 'mcp_servers = "x"\n', "no object of servers under mcp_servers"],
  ["codex", 'mcp_servers = { a = { command = "x" } }\n', "form that ctxd can't change"],
  ["codex", '[mcp_servers]\nctxd = { command = "x" }\n', "form that ctxd can't change"],
  ["goose", "a: 1\nb: 'x\n", "is not valid YAML (line 3: "],
  ["goose", "- a\n", "is not an object of settings"],
  ["goose", "extensions: [a]\n", "no object of servers under extensions"],
  ["goose", "extensions: {a: {type: x}}\n", "form that ctxd can't change"],
])("%s: %j is refused in words", (id, text, message) => {
  const change = () => writeEntry(client(id), text, client(id).local(LAUNCH));
  expect(change).toThrow(ConnectError);
  expect(change).toThrow(message);
});

describe("the list of Continue", () => {
  const list = client("continue");
  const local = list.local(LAUNCH);
  const MINE = "name: Mine\nversion: 1.0.0\n# mine\nmcpServers:\n";
  const OTHER = "  - name: other # keep\n    command: x\n    args: [1]\n";
  const OURS = renderEntry(list, local).split("\n").slice(1).join("\n");

  test.each([
    ["another server", `${MINE}${OTHER}`, `${MINE}${OTHER}${OURS}\n`],
    [
      "one before other settings",
      `${MINE}${OTHER}rules: []\n`,
      `${MINE}${OTHER}${OURS}\nrules: []\n`,
    ],
    ["one without a name", `${MINE}  - uses: a/b\n`, `${MINE}  - uses: a/b\n${OURS}\n`],
    ["no column of its own", `${MINE}- name: a\n  url: y\n`, null],
    ["Windows line breaks", `${MINE}${OTHER}`.replaceAll("\n", "\r\n"), null],
  ])("keeps %s", (_, text, expected) => {
    const written = writeEntry(list, text, local);
    if (expected !== null) expect(written).toBe(expected);
    expect(readEntry(list, written)).toEqual(local);
    expect(writeEntry(list, written, local)).toBe(written);
    expect(writeEntry(list, written, null)).toBe(text);
    const remote = writeEntry(list, written, list.remote({ url: URL, key: "ctx_k" }));
    expect(remote).toContain("requestOptions:");
    expect(writeEntry(list, remote, local)).toBe(written);
  });

  test("is created with what a new file needs, and goes with it", () => {
    const written = writeEntry(list, "", local);
    expect(written).toStartWith(
      "name: Local Config\nversion: 1.0.0\nschema: v1\nmcpServers:\n  - name: ctxd\n",
    );
    expect(writeEntry(list, written, null)).toBe("");
    expect(writeEntry(list, written, null, "mcpServers:")).toContain("mcpServers: []\n");
    expect(readEntry(list, writeEntry(list, `${MINE.trimEnd()} []\n`, local))).toEqual(local);
    expect(writeEntry(list, "", null)).toBe("");
  });

  test.each(["mcpServers: 7\n", "mcpServers:\n  a: {command: x}\n", "mcpServers: [{name: a}]\n"])(
    "%j is refused in words",
    (text) => {
      expect(() => writeEntry(list, text, local)).toThrow(ConnectError);
    },
  );
});

test("servers below two keys are written, and all beside them stays", () => {
  const claw = client("openclaw");
  const local = claw.local(LAUNCH);
  const text =
    '{\n  "mcp": {\n    "sessionIdleTtlMs": 5,\n    "servers": { "a": { "command": "x" } }\n  },\n  "agents": {}\n}\n';
  const written = writeEntry(claw, text, local);
  const { mcp, agents } = JSON.parse(written);
  expect({ mcp, agents }).toEqual({
    mcp: { sessionIdleTtlMs: 5, servers: { a: { command: "x" }, ctxd: local } },
    agents: {},
  });
  expect(writeEntry(claw, written, null)).toBe(text);
  expect(JSON.parse(writeEntry(claw, "{}", local))).toEqual({ mcp: { servers: { ctxd: local } } });
  expect(() => writeEntry(claw, '{"mcp": 7}', local)).toThrow(
    "has no object of servers under mcp.servers",
  );
});

test("settings of the user in our entry stay, the old address of the server is removed", () => {
  const mine = { trust: true, timeout: 5, env: { A: "1" } };
  const old = { mcpServers: { ctxd: { httpUrl: "https://old", headers: { a: "b" }, ...mine } } };
  const gemini = client("gemini");
  const written = writeEntry(gemini, JSON.stringify(old), gemini.local(LAUNCH));
  expect(readEntry(gemini, written)).toEqual({ ...LAUNCH, ...mine });

  const codex = client("codex");
  const table =
    '[mcp_servers.ctxd]\nurl = "x"\nbearer_token_env_var = "K"\ntool_timeout_sec = 9\n\n[mcp_servers.ctxd.tools.x]\nmode = "auto"\n\n[z]\nq = 1\n';
  expect(writeEntry(codex, table, codex.local(LAUNCH))).toBe(
    '[mcp_servers.ctxd]\ncommand = "/usr/local/bin/ctxd"\nargs = ["mcp", "--agent", "x"]\ntool_timeout_sec = 9\ntools = { x = { mode = "auto" } }\n\n[z]\nq = 1\n',
  );
});

test("no key remains when Claude Desktop is connected to this machine again", () => {
  const desktop = client("claude-desktop");
  const remote = writeEntry(desktop, "", desktop.remote({ url: URL, key: "ctx_k" }));
  expect(remote).toContain("ctx_k");
  expect(writeEntry(desktop, remote, desktop.local(LAUNCH))).not.toContain("ctx_k");
});

test.each(CLIENTS.map(({ id }) => id))(
  "%s: the entry to paste is the entry that is written",
  (id) => {
    const each = client(id);
    for (const entry of [
      each.local(LAUNCH),
      each.remote({ url: URL, key: "ctx_k" }),
      each.remote({ url: URL, key: null }),
    ]) {
      expect(readEntry(each, renderEntry(each, entry))).toEqual(entry);
      expect(readEntry(each, writeEntry(each, "", entry))).toEqual(entry);
    }
  },
);

test("JSON of any shape and layout keeps its content", () => {
  const random = createRandom(7);
  const cursor = client("cursor");
  const local = cursor.local(LAUNCH);
  for (let round = 0; round < 500; round++) {
    const servers = `"mcpServers"${space(random)}:${randomJson(random, 2, "{")}`;
    const text = `${space(random)}{${space(random)}"a": ${randomJson(random, 3)},${space(random)}${servers}${space(random)}}`;
    const written = writeEntry(cursor, text, local);
    const { mcpServers, ...rest } = parse(text);
    const ours = { mcpServers: { ...mcpServers, ctxd: local } };
    expect(parse(written)).toEqual({ ...rest, ...ours });
    expect(parse(writeEntry(cursor, written, null, text))).toEqual(parse(text));
    // Only white space is removed, and only the entry and commas are added.
    const compact = (each: string) => each.replaceAll(/[\s,]/g, "");
    expect(compact(written).length).toBe(
      compact(text).length + compact(JSON.stringify({ ctxd: local })).length - 2,
    );
  }
});

function space(random: Random): string {
  return (
    random.pick(["", "", " ", "\n", "\n  ", "\n\t", " // said\n", " /* said */ ", "\r\n"]) ?? ""
  );
}

function randomJson(
  random: Random,
  depth: number,
  kind = random.pick(["{", "[", "1", '"x"', "null"]),
): string {
  if (depth === 0 || (kind !== "{" && kind !== "[")) return kind === "{" ? "{}" : "1";
  const members = Array.from({ length: random.below(4) }, () => {
    const name = kind === "{" ? `"${random.word()}"${space(random)}:` : "";
    return `${space(random)}${name}${space(random)}${randomJson(random, depth - 1)}${space(random)}`;
  });
  const comma = members.length > 0 && random.below(4) === 0 ? "," : "";
  return `${kind}${members.join(",")}${comma}${space(random)}${kind === "{" ? "}" : "]"}`;
}
