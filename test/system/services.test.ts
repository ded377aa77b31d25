import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchd } from "../../src/system/services/launchd.ts";
import { quoteArgument, taskScheduler } from "../../src/system/services/task-scheduler.ts";
import { userServices } from "../../src/system/services/user-services.ts";
import { temporaryFolder } from "../support/database.ts";

/** Characters that are special for services, and allowed in paths and settings. */
const ODD = "a \"quoted\" $HOME %h \\ 'word' with <tags> & spaces";
const COMMAND = ["C:\\Program Files\\ctxd\\ctxd.exe", "service", "run", ODD];
const SCHEMA = join(import.meta.dir, "task.xsd");
const xmllint = Bun.which("xmllint");
const python = Bun.which("python3");

const task = taskScheduler("C:\\Users\\you\\AppData\\Roaming\\ctxd", "PC\\you & co");
const described = task.describe({ command: COMMAND, env: {}, logFile: "" });

function run(command: string[], text: string): { code: number; out: string; problems: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(text) });
  return { code: exitCode, out: stdout.toString(), problems: stderr.toString() };
}

/** The schema describes the text, not the encoded bytes for Windows. */
const asUtf8 = (text: string) => text.replace('encoding="UTF-16"', 'encoding="UTF-8"');

describe.skipIf(!xmllint)("the task of Windows (needs xmllint)", () => {
  const check = (text: string) =>
    run([`${xmllint}`, "--noout", "--nonet", "--schema", SCHEMA, "-"], asUtf8(text));

  test("is valid by its schema", () => {
    expect(check(described)).toMatchObject({ code: 0 });
  });

  test("is invalid with an unknown field or a value out of range", () => {
    expect(check(described.replaceAll("Priority>", "Urgency>")).code).not.toBe(0);
    expect(check(described.replace("<Count>255<", "<Count>256<")).code).not.toBe(0);
  });

  test("contains the command and its arguments unchanged", () => {
    const contentOf = (name: string) =>
      run(
        [`${xmllint}`, "--nonet", "--xpath", `string(//*[local-name()='${name}'])`, "-"],
        asUtf8(described),
      ).out.trimEnd();
    expect(contentOf("Command")).toBe('"C:\\Program Files\\ctxd\\ctxd.exe"');
    expect(contentOf("Arguments")).toBe(`service run ${quoteArgument(ODD)}`);
    expect(contentOf("UserId")).toBe("PC\\you & co");
  });
});

// Rules of quotes and backslashes: documentation of CommandLineToArgvW.
test.each([
  ["serve", "serve"],
  ["", '""'],
  ["two words", '"two words"'],
  ["C:\\a b\\", '"C:\\a b\\\\"'],
  ["C:\\plain\\", "C:\\plain\\"],
  ['say "hi"', '"say \\"hi\\""'],
  ['a\\"b', '"a\\\\\\"b"'],
])("Windows' programs read %j from %s", (word, quoted) => {
  expect(quoteArgument(word)).toBe(quoted);
});

test.skipIf(!python)("the agent of launchd is a property list (needs python3)", () => {
  const { describe } = launchd("/Users/you", 501);
  const text = describe({ command: ["/bin/ctxd", ODD], env: { A: ODD }, logFile: "/tmp/log" });
  const path = join(temporaryFolder(), "ctxd.plist");
  writeFileSync(path, text);
  const read =
    "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))";
  const { out, problems } = run([`${python}`, "-c", read, path], "");
  expect(problems).toBe("");
  expect(JSON.parse(out)).toEqual({
    Label: "ctxd",
    ProgramArguments: ["/bin/ctxd", ODD],
    EnvironmentVariables: { A: ODD },
    Umask: 0o077,
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: "/tmp/log",
  });
});

test("the service file is in the person's folder of each system", () => {
  const windows = { USERPROFILE: "C:\\Users\\you", USERDOMAIN: "PC", USERNAME: "you" };
  expect(userServices({ HOME: "/home/you" }, "linux")).toMatchObject({
    title: "systemd",
    path: "/home/you/.config/systemd/user/ctxd.service",
  });
  expect(userServices({ HOME: "/Users/you" }, "darwin")).toMatchObject({
    title: "launchd",
    path: "/Users/you/Library/LaunchAgents/ctxd.plist",
  });
  const found = userServices(windows, "win32");
  expect(found).toMatchObject({
    path: "C:\\Users\\you\\AppData\\Roaming\\ctxd\\service.xml",
    settingsPath: "C:\\Users\\you\\AppData\\Roaming\\ctxd\\service.json",
  });
  const text = found?.describe({ command: ["ctxd"], env: {}, logFile: "" });
  expect(text).toContain("<UserId>PC\\you</UserId>");
  expect(userServices({ HOME: "/" }, "freebsd")).toBeNull();
});
