import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { planChanges, type WantedSettings } from "../../src/cli/commands/connect/plan.ts";
import { applyChange } from "../../src/connect/change.ts";
import type { Client, SettingsFile } from "../../src/connect/client.ts";
import { CLIENTS } from "../../src/connect/clients.ts";
import { locate, removeFolders } from "../../src/connect/files.ts";
import { temporaryFolder } from "../support/database.ts";

/** A file of a client, with what it may contain. */
interface Place {
  path: string;
  format: Client["format"];
  /** The path of its servers, and whether they are a list; null for a file of hooks. */
  servers: readonly string[] | null;
  isList: boolean;
  /** What it must have besides the servers. */
  beside: object | undefined;
  /** An event of its hooks; null for a file of servers. */
  event: string | null;
}

interface Options {
  recall?: boolean;
  capture?: boolean;
  allow?: boolean;
  url?: string;
  remove?: boolean;
}
const EVERYTHING = { recall: true, capture: true, allow: true };
const REMOVE = { remove: true };

function wanted(client: Client, options: Options): WantedSettings {
  const { recall, capture, allow, url, remove = false } = options;
  const { id, approval } = client;
  const program = "/usr/local/bin/ctxd";
  const entry = url
    ? client.remote({ url, key: null })
    : client.local({ command: program, args: ["mcp", "--agent", id] });
  return {
    entry: remove ? null : { ...entry, ...(allow && approval !== "rule" && approval) },
    hooks: remove || url ? { recall: false, capture: false } : { recall, capture },
    isAllowed: remove ? false : allow,
    commandOf: (kind) => `${program} ${kind} --agent ${id}`,
    program: [program],
    options: [],
  };
}

/** In memory if possible: each change is flushed to the disk, and there are thousands. */
const MEMORY = "/dev/shm";

/** A home folder in which every client has run, but has no file yet. */
function createHome() {
  const home = temporaryFolder(existsSync(MEMORY) ? MEMORY : undefined);
  const find = (settings: SettingsFile) =>
    locate(settings, { env: {}, home, platform: process.platform });
  const places = new Map<string, Place>();
  for (const client of CLIENTS) {
    const { format, servers, isList = false, beside, hooks, installMarker } = client;
    const path = find(client);
    places.set(path, { path, format, servers, isList, beside, event: null });
    mkdirSync(installMarker?.replace("~", home) ?? dirname(path), { recursive: true });
    if (!hooks) continue;
    const other = places.get(find(hooks)) ?? {
      path: find(hooks),
      format: hooks.format ?? "json",
      servers: null,
      isList: false,
      beside: undefined,
    };
    places.set(other.path, { ...other, event: hooks.recall[0] ?? null });
  }
  /** Connects or disconnects all clients as the command does. Returns the number of changes. */
  const connect = (options: Options = {}) => {
    const around = { env: {}, home, platform: process.platform };
    const changes = CLIENTS.flatMap((client) =>
      planChanges(client, wanted(client, options), around),
    );
    for (const change of changes) applyChange(change);
    const free = changes.filter(({ isFree }) => isFree);
    removeFolders(
      free.map(({ file }) => file),
      options.remove === true,
    );
    return changes.length;
  };
  /** Everything below the home folder: kinds, modes and contents. */
  const look = () =>
    readdirSync(home, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => {
        const path = join(home, name);
        const info = lstatSync(path);
        const content = info.isSymbolicLink()
          ? readlinkSync(path)
          : info.isFile() && readFileSync(path, "latin1");
        return [name, (info.mode & 0o7777).toString(8), content];
      });
  /** Writes each file whose text is not null. */
  const fill = (textOf: (place: Place) => string | null, mode = 0o644) => {
    for (const place of places.values()) {
      const text = textOf(place);
      if (text === null) continue;
      mkdirSync(dirname(place.path), { recursive: true });
      writeFileSync(place.path, text, { mode });
      chmodSync(place.path, mode);
    }
  };
  return { home, places: [...places.values()], connect, look, fill };
}

/** An object with a value at a path. */
const within = (path: readonly string[], value: object) =>
  path.reduceRight<object>((inner, key) => ({ [key]: inner }), value);

/** Settings of a person: other servers, hooks and rules, as a value and in each format. */
const othersOf = ({ servers, event }: Place) => ({
  theme: "dark",
  ...(servers && within(servers, { other: { command: "x", args: ["a", "b"] } })),
  ...(event && {
    hooks: { [event]: [{ hooks: [{ type: "command", command: "echo hello" }] }], Mine: [] },
    permissions: { allow: ["Bash(ls)"] },
  }),
});

const TOML = (servers: string | undefined) =>
  `# mine\nmodel = "x"   # best\n\n${servers ? `[${servers}.other]\ncommand = 'x' # keep\n\n` : "[[hooks]]\nevent = 'Stop'\ncommand = 'x'\n\n"}[tui]\ntheme = "dark"\n`;
const YAML = (servers: string | undefined, isList: boolean) =>
  `# mine\ntheme: 'dark'   # best\n${servers}:\n  ${isList ? "- name: other" : "other:"}\n    type: stdio   # keep\n    args: ["a",\n      b]\n# after\nz: 1\n`;

function others(place: Place, spaces: number | string = 2): string {
  const { format, servers, isList } = place;
  if (format === "json") return `${JSON.stringify(othersOf(place), null, spaces)}\n`;
  return format === "toml" ? TOML(servers?.[0]) : YAML(servers?.[0], isList);
}

/** Every container that ctxd may create, without content. */
function containers({ format, servers, isList, event }: Place): string {
  if (format !== "json")
    return format === "toml" ? "# nothing yet" : `${servers}: ${isList ? "[]" : "{}"}`;
  const list = servers === null ? [] : [JSON.stringify(within(servers, {})).slice(1, -1)];
  const hooks = event === null ? [] : [`"hooks": {"${event}": [ ]}`, '"permissions": {"allow":[]}'];
  return `{${[...list, ...hooks].join(" ,")}}`;
}

const commented = (place: Place) =>
  place.format === "json"
    ? others(place, "\t").replace("{\n", "{\n\t// mine\n\n").replace('"x",', '"x", /* this */')
    : others(place);

const SITUATIONS: [what: string, textOf: (place: Place) => string | null][] = [
  ["no file", () => null],
  ["empty files", () => ""],
  ["files with an empty line", () => "\n"],
  ["empty objects", ({ format }) => (format === "json" ? "{}" : "# nothing")],
  ["empty objects on two lines", ({ format }) => (format === "json" ? "{\n}\n" : "\n\n# x\n\n")],
  ["other servers and hooks", others],
  ["unusual indentation", (place) => others(place, 7)],
  ["one line without a break", (place) => others(place, "").trimEnd()],
  ["comments and tabs", commented],
  ["Windows' line breaks", (place) => commented(place).replaceAll("\n", "\r\n")],
  ["a byte order mark", (place) => `\uFEFF${commented(place)}`],
  ["no line break at the end", (place) => commented(place).trimEnd()],
  ["empty lists of servers, hooks and rules", containers],
  [
    "null as the list of servers",
    ({ format, servers }) =>
      servers === null || format === "toml"
        ? null
        : format === "yaml"
          ? `a: 1\n${servers}:\nb: 2\n`
          : `{ "${servers[0]}" : null }`,
  ],
];

describe("the home folder is the same, byte for byte, after connecting and --remove:", () => {
  test.each(SITUATIONS)("%s", (_, textOf) => {
    const { fill, look, connect } = createHome();
    fill(textOf);
    const before = look();
    connect(EVERYTHING);
    expect(look()).not.toEqual(before);
    connect(REMOVE);
    expect(look()).toEqual(before);
    // Again, in many steps.
    connect({ capture: true });
    connect();
    connect({ allow: true, recall: true });
    connect({ capture: false });
    connect({ url: "https://memory.example.com/mcp" });
    connect(EVERYTHING);
    connect(REMOVE);
    expect(look()).toEqual(before);
    expect(connect(REMOVE)).toBe(0);
  });

  test("without a folder of any client, nothing is written", () => {
    const home = temporaryFolder();
    const around = { env: {}, home, platform: process.platform };
    for (const client of CLIENTS) {
      expect(() => planChanges(client, wanted(client, EVERYTHING), around)).toThrow(
        "has never run",
      );
    }
    expect(readdirSync(home)).toEqual([]);
  });

  test("folders that were there and empty", () => {
    const { home, places, look, connect } = createHome();
    for (const { path } of places) mkdirSync(dirname(path), { recursive: true });
    mkdirSync(join(home, ".config", "opencode", "plugins"), { recursive: true });
    const before = look();
    connect(EVERYTHING);
    connect(REMOVE);
    expect(look()).toEqual(before);
  });

  test("files of one user only, behind symbolic links", () => {
    const { home, places, fill, look, connect } = createHome();
    fill(others, 0o600);
    mkdirSync(join(home, "dotfiles"), { mode: 0o750 });
    for (const [index, { path }] of places.entries()) {
      const real = join(home, "dotfiles", `${index}`);
      renameSync(path, real);
      symlinkSync(real, path);
    }
    const before = look();
    connect(EVERYTHING);
    connect(REMOVE);
    expect(look()).toEqual(before);
  });
});

test("copies that an earlier version left go, and only when the client is disconnected", () => {
  const { places, fill, look, connect } = createHome();
  fill(({ format }) => (format === "json" ? "{}" : ""));
  const before = look();
  connect();
  connect(REMOVE);
  const json = places.filter(({ format }) => format === "json");
  for (const { path } of json) writeFileSync(`${path}.before-ctxd`, '{"mcpServers": {"ctxd": {}}}');
  const left = look();
  connect({ recall: false });
  expect(look()).toEqual(
    expect.arrayContaining(left.filter(([name]) => `${name}`.includes("ctxd"))),
  );
  connect(REMOVE);
  expect(look()).toEqual(before);
});

describe("what changed in between stays, and all of ctxd goes:", () => {
  /** An agent writes its files again: other order and indentation, and a field of its own. */
  function rewrite({ path, format }: Place) {
    if (!existsSync(path)) return;
    const text = readFileSync(path, "utf8");
    if (format !== "json") {
      const lines = text.replaceAll("\r\n", "\n");
      writeFileSync(path, format === "toml" ? `own = 1\n${lines}` : `${lines}own: 1\n`);
      return;
    }
    const fields = Object.entries(Object(Bun.JSONC.parse(text))).reverse();
    writeFileSync(path, JSON.stringify({ own: 1, ...Object.fromEntries(fields) }, null, 4));
  }

  const parse = (path: string, format: Client["format"]) => {
    const text = readFileSync(path, "utf8");
    const formats = { json: Bun.JSONC.parse, toml: Bun.TOML.parse, yaml: Bun.YAML.parse };
    return Object(formats[format](text));
  };

  test.each([
    ["files of the person", others],
    ["empty lists of servers, hooks and rules", containers],
    ["files that connect created", () => null],
  ] as const)("%s", (_, textOf) => {
    const { places, fill, look, connect } = createHome();
    fill(textOf);
    const values = places.map(({ path, format }) => (existsSync(path) ? parse(path, format) : {}));
    const names = look().map(([name]) => name);
    connect(EVERYTHING);
    for (const place of places) rewrite(place);
    connect({ recall: false });
    connect(REMOVE);
    for (const [index, { path, format, beside }] of places.entries()) {
      // What the file must have, the agent's own field needs too.
      const needed = Object.keys(values[index]).length === 0 ? beside : {};
      expect(parse(path, format)).toEqual({ own: 1, ...values[index], ...needed });
    }
    const after = look();
    expect(JSON.stringify(after)).not.toMatch(/ctxd/);
    const created = places.map(({ path }) => path);
    const isNew = ([name]: unknown[]) => !names.includes(String(name));
    const added = after.filter(isNew).filter(([, , content]) => content !== false);
    expect(added.every(([name]) => created.some((path) => path.endsWith(String(name))))).toBe(true);
  });

  test("a comment, a hook in ctxd's group, and other indentation", () => {
    const { home, places, connect } = createHome();
    connect(EVERYTHING);
    const [settings, mcp] = [".gemini/settings.json", ".cursor/mcp.json"].map((path) =>
      join(home, path),
    ) as [string, string];
    const hooks = JSON.parse(readFileSync(settings, "utf8"));
    hooks.hooks.SessionStart[0].hooks.push({ type: "command", command: "echo mine" });
    writeFileSync(settings, JSON.stringify(hooks, null, "\t"));
    const text = readFileSync(mcp, "utf8").replace('"mcpServers": {', "$&\n    // mine");
    writeFileSync(mcp, text);
    connect(REMOVE);
    expect(readFileSync(settings, "utf8")).toBe(
      JSON.stringify(
        {
          hooks: {
            SessionStart: [
              {
                ...hooks.hooks.SessionStart[0],
                hooks: [{ type: "command", command: "echo mine" }],
              },
            ],
          },
        },
        null,
        "\t",
      ),
    );
    expect(readFileSync(mcp, "utf8")).toBe('{\n  "mcpServers": {\n    // mine\n  }\n}\n');
    const left = places.filter(({ path }) => existsSync(path)).map(({ path }) => path);
    expect(left.sort()).toEqual([mcp, settings].sort());
  });
});
