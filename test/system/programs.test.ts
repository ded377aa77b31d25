import { expect, test } from "bun:test";
import { browserCommand } from "../../src/system/browser.ts";
import { inThisFolder, nameOfProgram, toShell } from "../../src/system/shell.ts";

const PAGE = "http://localhost:7733/setup?a=1&b=2";

test("the command that opens a browser depends on the system", () => {
  expect(browserCommand(PAGE, {}, "darwin")).toEqual(["open", PAGE]);
  expect(browserCommand(PAGE, { DISPLAY: ":0" }, "linux")).toEqual(["xdg-open", PAGE]);
  expect(browserCommand(PAGE, { WAYLAND_DISPLAY: "w" }, "linux")).toEqual(["xdg-open", PAGE]);
  expect(browserCommand(PAGE, {}, "linux")).toBeNull();
  expect(browserCommand(PAGE, { SystemRoot: "D:\\Windows" }, "win32")).toEqual([
    "D:\\Windows\\System32\\rundll32.exe",
    "url.dll,FileProtocolHandler",
    PAGE,
  ]);
});

test.each([
  ["linux", ["/bin/ctxd", "recall"], "/bin/ctxd recall"],
  ["linux", ["/my bin/ctxd", "it's"], "'/my bin/ctxd' 'it'\\''s'"],
  ["win32", ["C:\\bin\\ctxd.exe", "recall"], "C:/bin/ctxd.exe recall"],
  ["win32", ["C:\\Program Files\\ctxd.exe", "a b"], '"C:/Program Files/ctxd.exe" "a b"'],
])("a command for the shell of %s from %j is %s", (platform, words, command) => {
  expect(toShell(words, platform)).toBe(command);
});

// On Windows, hooks may run in the bash of Git.
test("bash reads words quoted for Windows", () => {
  const words = ["printf", "[%s]", "C:\\Program Files\\ctxd.exe", "C:\\plain\\ctxd.exe"];
  const { stdout } = Bun.spawnSync(["bash", "-c", toShell(words, "win32")]);
  expect(stdout.toString()).toBe("[C:/Program Files/ctxd.exe][C:/plain/ctxd.exe]");
});

test("a program's name is the word that a person types", () => {
  expect([nameOfProgram("ctxd", "linux"), nameOfProgram("ctxd.EXE", "win32")]).toEqual([
    "ctxd",
    "ctxd",
  ]);
  expect([inThisFolder("ctxd", "darwin"), inThisFolder("ctxd", "win32")]).toEqual([
    "./ctxd",
    ".\\ctxd",
  ]);
});
