import { describe, expect, test } from "bun:test";
import { parse } from "jsonc-parser";
import { ConnectError, type HookKind, type Hooks } from "../../src/connect/client.ts";
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import { eventsOf, hooksIn, writeApprovalRule, writeHooks } from "../../src/connect/hooks.ts";

const OTHER = { matcher: "startup", hooks: [{ type: "command", command: "echo hello" }] };
const COMMANDS = {
  recall: "/usr/local/bin/ctxd recall --agent x",
  capture: "/usr/local/bin/ctxd capture --agent x",
};
const NONE = { recall: null, capture: null };
const agents: [string, Hooks][] = CLIENTS.flatMap(({ id, hooks }) => (hooks ? [[id, hooks]] : []));

/** The commands of an event, listed directly or in groups. */
function commandsOf(text: string, event: string): string[] {
  const list = parse(text)?.hooks?.[event] ?? [];
  return list.flatMap((one: { command?: string; hooks?: { command: string }[] }) =>
    one.hooks ? one.hooks.map(({ command }) => command) : [one.command],
  );
}

test("eight agents have hooks", () => {
  expect(agents.map(([id]) => id)).toEqual([
    ...["claude-code", "codex", "gemini", "copilot-cli", "droid", "qwen", "kimi"],
    "cursor",
  ]);
});

describe.each(agents.filter(([, { format }]) => !format))("hooks of %s", (_, agent) => {
  const events = eventsOf(agent);
  const [first = { name: "" }] = events;

  test.each([
    ["no settings", ""],
    ["no hooks", '{\n  "theme": "dark"\n}\n'],
    ["other hooks", JSON.stringify({ hooks: { Other: [OTHER], [first.name]: [OTHER] } }, null, 2)],
    ["an empty list", `{ "hooks": { "${first.name}": [] } }`],
  ])("are added to %s, once, and taken out again", (_, text) => {
    const before = text === "" ? {} : parse(text);
    const written = writeHooks(agent, text, COMMANDS);
    expect(hooksIn(agent, written)).toEqual(["recall", "capture"]);
    for (const { name, kind } of events) {
      const others = before.hooks?.[name]?.length > 0 ? ["echo hello"] : [];
      expect(commandsOf(written, name)).toEqual([...others, COMMANDS[kind]]);
    }
    expect(writeHooks(agent, written, COMMANDS)).toBe(written);
    const removed = writeHooks(agent, written, NONE, text);
    expect(hooksIn(agent, removed)).toEqual([]);
    expect(parse(removed)).toEqual(before);
    expect(writeHooks(agent, text, NONE)).toBe(text);
  });

  test.each<[HookKind, HookKind]>([
    ["recall", "capture"],
    ["capture", "recall"],
  ])("to %s alone do not %s", (kind, other) => {
    const written = writeHooks(agent, "", { ...NONE, [kind]: COMMANDS[kind] });
    expect(hooksIn(agent, written)).toEqual([kind]);
    expect(written).not.toContain(` ${other} `);
    // Each can be removed alone.
    const both = writeHooks(agent, written, COMMANDS);
    expect(hooksIn(agent, writeHooks(agent, both, { ...COMMANDS, [kind]: null }))).toEqual([other]);
  });
});

test("the new path of a moved program replaces the old one", () => {
  const [[, agent] = []] = agents;
  if (!agent) throw new Error("there are no agents");
  const hooks = [...OTHER.hooks, { type: "command", command: "'/old dir/ctxd' recall" }];
  const text = JSON.stringify({ hooks: { SessionStart: [{ ...OTHER, hooks }] } });
  const written = writeHooks(agent, text, { ...NONE, recall: COMMANDS.recall });
  expect(commandsOf(written, "SessionStart")).toEqual(["echo hello", COMMANDS.recall]);
  expect(parse(writeHooks(agent, written, NONE))).toEqual({ hooks: { SessionStart: [OTHER] } });
});

describe("hooks of kimi, a list of tables for all events", () => {
  const { hooks: kimi } = findClient("kimi") ?? {};
  if (!kimi) throw new Error("it has hooks");
  const tables = (text: string) => Object(Bun.TOML.parse(text)).hooks ?? [];
  const MINE = '# mine\n[[hooks]]\nevent = "Stop"\ncommand = "echo hello"\n\n[loop]\nsteps = 3\n';

  test.each([
    ["no settings", ""],
    ["no hooks", 'model = "k2"\n\n[loop]\nsteps = 3\n'],
    ["other hooks", MINE],
    ["other hooks, with the line breaks of Windows", MINE.replaceAll("\n", "\r\n")],
  ])("are added to %s, once, and taken out again", (_, text) => {
    const written = writeHooks(kimi, text, COMMANDS);
    expect(hooksIn(kimi, written)).toEqual(["recall", "capture"]);
    expect(written).toStartWith(text.trimEnd());
    for (const { name, kind } of eventsOf(kimi)) {
      expect(tables(written)).toContainEqual({ event: name, command: COMMANDS[kind], timeout: 10 });
    }
    expect(writeHooks(kimi, written, COMMANDS)).toBe(written);
    const moved = { recall: "/opt/ctxd recall", capture: "/opt/ctxd capture" };
    expect(tables(writeHooks(kimi, written, moved))).toHaveLength(tables(written).length);
    const alone = writeHooks(kimi, written, { ...COMMANDS, recall: null });
    expect(hooksIn(kimi, alone)).toEqual(["capture"]);
    expect(writeHooks(kimi, alone, NONE)).toBe(text);
    expect(writeHooks(kimi, text, NONE)).toBe(text);
  });

  test.each(["hooks = 7\n", 'hooks = [{ event = "Stop", command = "x" }]\n', "[hooks]\na = 1\n"])(
    "are not added to %j",
    (text) => {
      expect(() => writeHooks(kimi, text, COMMANDS)).toThrow(ConnectError);
      expect(() => hooksIn(kimi, "hooks = [")).toThrow(ConnectError);
    },
  );
});

test("hooks of an unexpected type are not changed", () => {
  for (const [, agent] of agents.filter(([, { format }]) => !format)) {
    for (const text of ['{"hooks": 7}', `{"hooks": {"${agent.recall[0]}": {}}}`]) {
      expect(() => writeHooks(agent, text, COMMANDS)).toThrow();
    }
  }
});

test("the permission rule of Claude Code is added once, and removed again", () => {
  for (const text of ["", "{}\n", '{\n  "permissions": {\n    "allow": ["Bash(ls)"]\n  }\n}\n']) {
    const written = writeApprovalRule(text, true);
    expect(parse(written).permissions.allow).toContain("mcp__ctxd");
    expect(writeApprovalRule(written, true)).toBe(written);
    expect(parse(writeApprovalRule(written, false, text))).toEqual(parse(text) ?? {});
    expect(writeApprovalRule(text, false)).toBe(text);
  }
});
