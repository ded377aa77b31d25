import { expect, test } from "bun:test";
import { join } from "node:path";
import { untilUnused } from "../../src/server/stop.ts";
import { until } from "../support/until.ts";

const STOP = join(import.meta.dir, "..", "..", "src", "server", "stop.ts");

/** Starts a program that stops on SIGTERM, or hangs while it stops. */
function stopping(stuck: boolean) {
  const script = `
    import { endWithin, untilStopped } from ${JSON.stringify(STOP)};
    const stopped = untilStopped();
    const life = setInterval(() => {}, 1000);
    process.stdout.write("ready\\n");
    await stopped;
    endWithin(200, () => process.stderr.write("took too long"));
    if (!${stuck}) clearInterval(life);
  `;
  return Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
}

test.each([
  ["by itself", false],
  ["by SIGKILL when it hangs", true],
])("a program that receives SIGTERM ends %s", async (_, stuck) => {
  const child = stopping(stuck);
  await child.stdout.getReader().read();
  child.kill("SIGTERM");
  await child.exited;
  expect(child.signalCode).toBe(stuck ? "SIGKILL" : null);
  expect(await child.stderr.text()).toBe(stuck ? "took too long" : "");
});

test("a background server without any client ends soon", async () => {
  const socket = {
    bridges: () => 0,
    lastUse: () => null,
    hasHooks: () => false,
    isThere: () => true,
    stopRequested: new Promise<void>(() => {}),
  };
  const started = performance.now();
  await untilUnused({ idleSeconds: 3600, firstSeconds: 0.1 }, socket, () => 0);
  expect(performance.now() - started).toBeLessThan(4_000);
});

test("a background server stays for hours where agents have hooks, and ends without its folder", async () => {
  let checks = 0;
  let isThere = true;
  const socket = {
    bridges: () => 0,
    // Long ago, as these seconds go.
    lastUse: () => 1,
    hasHooks: () => true,
    isThere: () => {
      checks++;
      return isThere;
    },
    stopRequested: new Promise<void>(() => {}),
  };
  const seconds = { idleSeconds: 0.01, firstSeconds: 0.01 };
  let hasEnded = false;
  const ended = untilUnused(seconds, socket, () => 0).then(() => {
    hasEnded = true;
  });
  await until("the server has looked often", () => checks > 5);
  expect(hasEnded).toBe(false);
  await untilUnused(seconds, { ...socket, hasHooks: () => false }, () => 0);
  isThere = false;
  await ended;
});

test("a background server ends when another takes over, even while bridges use it", async () => {
  const socket = {
    bridges: () => 1,
    lastUse: () => performance.now(),
    hasHooks: () => false,
    isThere: () => true,
    stopRequested: Promise.resolve(),
  };
  expect(await untilUnused({ idleSeconds: 3600 }, socket, () => 0)).toBeUndefined();
});
