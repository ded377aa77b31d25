import { expect, test } from "bun:test";
import { CLIENTS, clientsLike } from "../../src/connect/clients.ts";

test("there are at least fifteen clients, each with a unique id", () => {
  expect(CLIENTS.length).toBeGreaterThanOrEqual(15);
  expect(new Set(CLIENTS.map(({ id }) => id)).size).toBe(CLIENTS.length);
  expect(new Set(CLIENTS.map(({ file }) => file.linux)).size).toBe(CLIENTS.length);
});

test.each([
  ["cluade", ["claude-code", "claude-desktop"]],
  ["claude", ["claude-code", "claude-desktop"]],
  ["windsurv", ["windsurf"]],
  ["Copilot", ["copilot-cli"]],
  ["gemini-cli", ["gemini"]],
  ["open-code", ["opencode"]],
  ["vs code", ["vscode"]],
  ["jetbrains", ["junie"]],
  ["lm-studio", ["lmstudio"]],
  ["factory", ["droid"]],
  ["kilocode", ["kilo"]],
  ["kimi-cli", ["kimi"]],
  ["zet", ["zed"]],
  ["emacs", []],
  ["", []],
])("%j suggests %j", (word, ids) => {
  expect(clientsLike(word).map(({ id }) => id)).toEqual(ids);
});
