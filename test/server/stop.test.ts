import { expect, test } from "bun:test";
import { join } from "node:path";
import { untilUnused } from "../../src/server/background.ts";

const STOP = join(import.meta.dir, "..", "..", "src", "server", "stop.ts");

/** A program that is told to stop, and is stuck or not. */
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
  ["in peace", false],
  ["at last, when it is stuck", true],
])("a program that is told to stop ends %s", async (_, stuck) => {
  const child = stopping(stuck);
  await child.stdout.getReader().read();
  child.kill("SIGTERM");
  await child.exited;
  expect(child.signalCode).toBe(stuck ? "SIGKILL" : null);
  expect(await child.stderr.text()).toBe(stuck ? "took too long" : "");
});

test("a server in the background that nobody asks anything ends soon", async () => {
  const socket = {
    bridges: () => 0,
    lastUse: () => null,
    stopRequested: new Promise<void>(() => {}),
  };
  await untilUnused({ idleSeconds: 3600, firstSeconds: 0.1 }, socket, () => 0);
});

test("a server in the background ends when another takes over, whoever uses it", async () => {
  const socket = {
    bridges: () => 1,
    lastUse: () => performance.now(),
    stopRequested: Promise.resolve(),
  };
  await untilUnused({ idleSeconds: 3600 }, socket, () => 0);
});
