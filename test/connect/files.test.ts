import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Client } from "../../src/connect/client.ts";
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import {
  isInstalled,
  locate,
  readConfiguration,
  replaceConfiguration,
} from "../../src/connect/files.ts";
import { temporaryFolder } from "../support/database.ts";

function client(id: string): Client {
  const found = findClient(id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
}

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
  ["cline", "linux", { CLINE_MCP_SETTINGS_PATH: "/c/servers.json" }, "/c/servers.json"],
  ["copilot-cli", "linux", { COPILOT_HOME: "/c" }, "/c/mcp-config.json"],
  ["zed", "darwin", {}, "/home/you/.config/zed/settings.json"],
  [
    "roo",
    "darwin",
    {},
    "/home/you/Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
  ],
  ["opencode", "linux", { XDG_CONFIG_HOME: "/c" }, "/c/opencode/opencode.json"],
  [
    "claude-desktop",
    "win32",
    { APPDATA: "D:\\you\\Roaming" },
    "D:\\you\\Roaming\\Claude\\claude_desktop_config.json",
  ],
  ["zed", "win32", {}, "\\home\\you\\AppData\\Roaming\\Zed\\settings.json"],
  ["claude-code", "win32", { XDG_CONFIG_HOME: "C:\\c" }, "\\home\\you\\.claude.json"],
])("the file of %s on %s with %j is %s", (id, platform, env, path) => {
  expect(locate(client(id), { env, platform, home: "/home/you" })).toBe(path);
});

test("an existing file is preferred to a new file at the usual place", () => {
  const home = temporaryFolder();
  const around = { env: {}, platform: "linux", home };
  const find = () => locate(client("opencode"), around);
  mkdirSync(join(home, ".config", "opencode"), { recursive: true });
  expect(find()).toBe(join(home, ".config", "opencode", "opencode.json"));
  writeFileSync(join(home, ".config", "opencode", "opencode.jsonc"), "{}");
  expect(find()).toBe(join(home, ".config", "opencode", "opencode.jsonc"));
  writeFileSync(join(home, ".config", "opencode", "opencode.json"), "{}");
  expect(find()).toBe(join(home, ".config", "opencode", "opencode.json"));
});

test("a client without any server is found by its folder, and its file is created", () => {
  const home = temporaryFolder();
  const around = { env: {}, platform: "linux", home };
  expect(isInstalled(client("junie"), around)).toBe(false);
  mkdirSync(join(home, ".junie"));
  expect(isInstalled(client("junie"), around)).toBe(true);
  const path = locate(client("junie"), around);
  replaceConfiguration(readConfiguration(path), "{}", null);
  expect(readFileSync(path, "utf8")).toBe("{}");
});

test("every client has a file on Windows in a folder of the user", () => {
  const home = "C:\\Users\\you";
  for (const each of CLIENTS) {
    expect(locate(each, { env: {}, platform: "win32", home })).toMatch(/^C:\\Users\\you\\[^/%~]+$/);
  }
});

test("a folder that is named like a variable of Windows is ignored on other systems", () => {
  const home = temporaryFolder();
  const place = client("cline").alternatives?.find((path) => path.startsWith("%APPDATA%")) ?? "";
  const before = process.cwd();
  process.chdir(home);
  try {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(place, "{}");
    const found = locate(client("cline"), { env: {}, platform: "linux", home });
    expect(found).toStartWith(join(home, ".cline"));
  } finally {
    process.chdir(before);
  }
});

test("on an unknown system, the error says how to add the entry by hand", () => {
  const find = () => locate(client("cursor"), { env: {}, platform: "freebsd", home: "/you" });
  expect(find).toThrow("--print shows it");
});

test("a file that its client changes in the meantime is not overwritten", () => {
  const path = join(temporaryFolder(), "settings.json");
  writeFileSync(path, "{}");
  const file = readConfiguration(path);
  writeFileSync(path, '{"theme": "dark"}');
  expect(() => replaceConfiguration(file, '{"ours": 1}', null)).toThrow(
    "was changed in the meantime",
  );
  expect(readFileSync(path, "utf8")).toBe('{"theme": "dark"}');
});
