import { expect, test } from "bun:test";
import { cacheFolder, dataFolder, homeFolder, stateFolder } from "../../src/system/folders.ts";

const LINUX = { HOME: "/home/you" };
const WINDOWS = { USERPROFILE: "C:\\Users\\you", LOCALAPPDATA: "D:\\local" };

test.each([
  ["linux", LINUX, "/home/you/.local/share/ctxd", "/home/you/.cache/ctxd"],
  ["linux", { ...LINUX, XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "/c" }, "/d/ctxd", "/c/ctxd"],
  [
    "linux",
    { ...LINUX, XDG_DATA_HOME: "relative" },
    "/home/you/.local/share/ctxd",
    "/home/you/.cache/ctxd",
  ],
  ["darwin", { HOME: "/Users/you" }, "/Users/you/.local/share/ctxd", "/Users/you/.cache/ctxd"],
  ["win32", WINDOWS, "D:\\local\\ctxd", "D:\\local\\ctxd\\cache"],
  [
    "win32",
    { USERPROFILE: "C:\\Users\\you", LOCALAPPDATA: "local", HOME: "/c/Users/you" },
    "C:\\Users\\you\\AppData\\Local\\ctxd",
    "C:\\Users\\you\\AppData\\Local\\ctxd\\cache",
  ],
])("on %s with %j, data is in %s and the cache in %s", (platform, env, data, cache) => {
  expect([dataFolder(env, platform), cacheFolder(env, platform)]).toEqual([data, cache]);
});

test.each([
  ["linux", LINUX, "/home/you/.local/state/ctxd"],
  ["linux", { ...LINUX, XDG_STATE_HOME: "/s" }, "/s/ctxd"],
  ["darwin", { HOME: "/Users/you", XDG_STATE_HOME: "relative" }, "/Users/you/.local/state/ctxd"],
  ["win32", WINDOWS, "C:\\Users\\you\\AppData\\Roaming\\ctxd"],
  ["win32", { ...WINDOWS, APPDATA: "D:\\roaming" }, "D:\\roaming\\ctxd"],
])("on %s with %j, what can be done without is in %s", (platform, env, state) => {
  expect(stateFolder(env, platform)).toBe(state);
});

test("without a home folder, the folders are null", () => {
  const unknown = () => {
    throw new Error("no such user");
  };
  expect(homeFolder({}, "linux", unknown)).toBeNull();
  expect(homeFolder({ HOME: "/h" }, "linux", unknown)).toBe("/h");
  expect(homeFolder({ HOME: "/h" }, "win32", unknown)).toBeNull();
});
