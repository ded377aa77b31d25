import { expect, test } from "bun:test";
import { parse } from "jsonc-parser";
import { hasHook, hookOf, writeHook } from "../../src/connect/hook.ts";

const COMMAND = "/usr/local/bin/ctxd recall";
const OTHER = { matcher: "startup", hooks: [{ type: "command", command: "echo hello" }] };

test.each([
  ["no settings", ""],
  ["no hooks", '{\n  "theme": "dark"\n}\n'],
  ["other hooks", JSON.stringify({ hooks: { Stop: [OTHER], SessionStart: [OTHER] } }, null, 2)],
  ["an empty list", '{ "hooks": { "SessionStart": [] } }'],
])("a hook is added to %s, once, and taken out again", (_, text) => {
  const before = text === "" ? {} : parse(text);
  const written = writeHook(text, COMMAND);
  expect(hasHook(written)).toBe(true);
  expect(parse(written)).toEqual({
    ...before,
    hooks: {
      ...before.hooks,
      SessionStart: [...(before.hooks?.SessionStart ?? []), hookOf(COMMAND)],
    },
  });
  expect(writeHook(written, COMMAND)).toBe(written);
  const removed = writeHook(written, null);
  expect(hasHook(removed)).toBe(false);
  expect(parse(removed)).toMatchObject(before.hooks?.SessionStart?.length === 0 ? {} : before);
  expect(writeHook(text, null)).toBe(text);
});

test("a program that has moved takes the place of the old one", () => {
  const group = {
    ...OTHER,
    hooks: [...OTHER.hooks, { type: "command", command: "'/old dir/ctxd' recall" }],
  };
  const text = JSON.stringify({ hooks: { SessionStart: [group] } });
  const written = writeHook(text, COMMAND);
  expect(parse(written).hooks.SessionStart[0].hooks[1].command).toBe(COMMAND);
  expect(parse(writeHook(written, null))).toEqual({ hooks: { SessionStart: [OTHER] } });
});

test.each([
  ['{"hooks": {"SessionStart": {}}}', "something else than a list under hooks.SessionStart"],
  ['{"hooks": "x"}', "has no object where SessionStart should be"],
  ["[", "is not valid JSON"],
])("%s is refused in words", (text, message) => {
  expect(() => writeHook(text, COMMAND)).toThrow(message);
});
