import { expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findClient } from "../../src/connect/clients.ts";
import { locate, readConfiguration, replaceConfiguration } from "../../src/connect/files.ts";
import { temporaryFolder } from "../support/database.ts";

test.each([
  ["claude-desktop", "linux", {}, "/home/you/.config/Claude/claude_desktop_config.json"],
  ["claude-desktop", "linux", { XDG_CONFIG_HOME: "/c" }, "/c/Claude/claude_desktop_config.json"],
  [
    "claude-desktop",
    "darwin",
    {},
    "/home/you/Library/Application Support/Claude/claude_desktop_config.json",
  ],
  ["goose", "darwin", {}, "/home/you/.config/goose/config.yaml"],
  ["goose", "linux", { XDG_CONFIG_HOME: "relative" }, "/home/you/.config/goose/config.yaml"],
  ["codex", "win32", { CODEX_HOME: "/c" }, "/c/config.toml"],
  ["claude-code", "linux", { CLAUDE_CONFIG_DIR: "/c" }, "/c/.claude.json"],
  ["claude-code", "linux", { XDG_CONFIG_HOME: "/c" }, "/home/you/.claude.json"],
])("the file of %s on %s with %j is %s", (id, platform, env, path) => {
  const client = findClient(id);
  if (!client) throw new Error("no client");
  expect(locate(client, { env, platform, home: "/home/you" })).toBe(path);
});

test("on a system whose paths are not known, there is a way by hand", () => {
  const client = findClient("cursor");
  const find = () => client && locate(client, { env: {}, platform: "win32", home: "C:\\you" });
  expect(find).toThrow("--print shows the entry");
});

test("a file that its client writes in the meantime is left to it", () => {
  const path = join(temporaryFolder(), "settings.json");
  writeFileSync(path, "{}");
  const file = readConfiguration(path);
  writeFileSync(path, '{"theme": "dark"}');
  expect(() => replaceConfiguration(file, '{"ours": 1}')).toThrow("was changed in the meantime");
  expect(readFileSync(path, "utf8")).toBe('{"theme": "dark"}');
});

test("the copy is of the file as it was before the last change", () => {
  const folder = temporaryFolder();
  const path = join(folder, "settings.json");
  writeFileSync(path, "{}");
  replaceConfiguration(readConfiguration(path), '{"first": 1}');
  replaceConfiguration(readConfiguration(path), '{"second": 2}');
  expect(readFileSync(path, "utf8")).toBe('{"second": 2}');
  expect(readFileSync(`${path}.before-ctxd`, "utf8")).toBe('{"first": 1}');
  expect(readdirSync(folder).sort()).toEqual(["settings.json", "settings.json.before-ctxd"]);
});
