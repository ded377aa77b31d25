import { expect, test } from "bun:test";
import { LOG_LEVELS, type LogLevel } from "../src/config/config.ts";
import { createLog } from "../src/log.ts";

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

function record(logLevel: LogLevel, logFormat: "text" | "json") {
  const lines: string[] = [];
  return { lines, log: createLog({ logLevel, logFormat }, (line) => lines.push(line)) };
}

test.each(LOG_LEVELS.map((level, index) => [level, LOG_LEVELS.slice(index, -1)] as const))(
  "the level %s lets through %j",
  (level, expected) => {
    const { lines, log } = record(level, "text");
    log.debug("debug");
    log.info("info");
    log.warn("warn");
    log.error("error");
    expect(lines.map((line) => line.split(" ")[2] as LogLevel)).toEqual([...expected]);
  },
);

test("a text line has time, level, event and fields", () => {
  const { lines, log } = record("info", "text");
  log.info("server.start", { url: "http://localhost:7733", memories: 3, tls: false, by: null });
  const [time = "", ...rest] = lines[0]?.split(" ") ?? [];
  expect(time).toMatch(TIME);
  expect(rest.join(" ")).toBe(
    "info server.start url=http://localhost:7733 memories=3 tls=false by=null",
  );
});

test("a JSON line has the same", () => {
  const { lines, log } = record("info", "json");
  log.warn("disk.low", { free: 12, folder: 'a "b"' });
  expect(JSON.parse(lines[0] ?? "")).toEqual({
    time: expect.stringMatching(TIME),
    level: "warn",
    event: "disk.low",
    free: 12,
    folder: 'a "b"',
  });
});

test.each(["text", "json"] as const)("a field can't start a line of its own in %s", (format) => {
  const { lines, log } = record("info", format);
  log.info("probe", {
    agent: "x\n2026-01-01T00:00:00.000Z error forged\r\u001b[2J",
    gone: undefined,
  });
  expect(lines).toHaveLength(1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there
  expect(lines[0]).not.toMatch(/[\u0000-\u001f]/);
  expect(lines[0]).not.toContain("gone");
});

test("quotes, spaces and equals signs in a field stay inside it", () => {
  const { lines, log } = record("info", "text");
  log.info("probe", { a: 'x" b="y', c: "1=2", d: "" });
  expect(lines[0]).toEndWith('info probe a="x\\" b=\\"y" c="1=2" d=""');
});
