import { expect, test } from "bun:test";
import {
  allows,
  describeScopes,
  formatScopes,
  parseScopes,
  SCOPES,
} from "../../src/keys/scopes.ts";

test("writing implies saving, and nothing else implies anything", () => {
  const allowed = SCOPES.flatMap((scope) =>
    SCOPES.filter((needed) => allows([scope], needed)).map((needed) => [scope, needed]),
  );
  expect(allowed).toEqual([
    ["memories:read", "memories:read"],
    ["memories:write", "memories:write"],
    ["memories:write", "memories:add"],
    ["memories:add", "memories:add"],
  ]);
});

test("implied scopes are left out of the text", () => {
  expect(formatScopes(SCOPES)).toBe("memories:read memories:write");
  expect(parseScopes("memories:add memories:write x")).toEqual(["memories:write"]);
  expect(parseScopes("")).toEqual([]);
  expect(describeScopes(["memories:add", "memories:read"])).toBe("read, add");
});
