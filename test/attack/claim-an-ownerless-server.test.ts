import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPerson } from "../oauth/support/person.ts";
import { program, serverOf, start, startBridge, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { asNobody, noOtherUser, openToNobody } from "../support/other-user.ts";
import { listeningPorts } from "../support/ports.ts";
import { spawnServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const OWNER = { email: "you@example.com", password: "correct horse" };
const isLinux = process.platform === "linux";

let root: string;
let dataDir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  dataDir = join(root, "data");
});
afterEach(async () => {
  await stopServer(dataDir);
  rmSync(root, { recursive: true, force: true });
});

/** Saves a memory by a local agent, which starts a server. */
async function saveByAgent(content: string) {
  const bridge = startBridge(dataDir);
  const answer = await bridge.call("save_memory", { content });
  expect(JSON.stringify(answer)).toContain("Saved as");
  return { bridge, pid: serverOf(dataDir) };
}

function runDashboard(args: readonly string[] = [], env: Record<string, string> = {}) {
  return ctxd(["dashboard", ...args], { dataDir, env: { ...program(dataDir).env, ...env } });
}

test("another user of the machine can't become the owner of a server on loopback", async () => {
  await using server = spawnServer(dataDir, "real");
  const origin = await server.origin();
  const stranger = createPerson(origin);
  for (const path of ["/", "/setup", "/setup?token=", `/setup?token=${"A".repeat(43)}`]) {
    const page = await stranger.visit(path);
    expect({ path, status: page.status, forms: page.forms }).toEqual({
      path,
      status: 403,
      forms: [],
    });
  }
  const posted = await fetch(`${origin}/setup`, {
    method: "POST",
    body: new URLSearchParams(OWNER),
    headers: { origin, "sec-fetch-site": "same-origin" },
  });
  expect(posted.status).toBe(403);

  await until("the server prints the set-up link", () => server.errors().includes("--name laptop"));
  const [link = ""] = /http:\S+\/setup\?token=[\w-]{43}\b/.exec(server.errors()) ?? [];
  const { stdout } = await runDashboard(["--no-browser"]);
  expect(stdout).toBe(`${link}\n`);
  const person = createPerson(origin);
  expect((await person.submit(await person.visit(link), OWNER)).text).toContain(
    "Connect your first agent",
  );
});

describe("a server in the background", () => {
  test.skipIf(!isLinux)("opens no port", async () => {
    const { bridge, pid } = await saveByAgent("nobody else's");
    expect(listeningPorts(pid)).toEqual([]);
    const health = await ctxd(["health"], { dataDir, env: { CTXD_PORT: "1" } });
    expect(health).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("ctxd.sock: ok") });
    const doctor = await ctxd(["doctor"], { dataDir, env: program(dataDir).env });
    expect(doctor.stdout).toContain(
      "serves agents in the background, without a port, and is healthy",
    );
    expect(listeningPorts(pid)).toEqual([]);
    expect(await bridge.end()).toBe(0);
  });

  test.skipIf(noOtherUser !== null)(
    `lets another user reach neither socket nor files${noOtherUser ? ` (${noOtherUser})` : ""}`,
    async () => {
      chmodSync(root, 0o755);
      const { bridge } = await saveByAgent("nobody else's");
      const socket = join(dataDir, "ctxd.sock");
      expect(asNobody(["ls", dataDir]).exitCode).not.toBe(0);
      // The folder of a checkout exists already, and other users may enter it.
      chmodSync(dataDir, 0o755);
      expect(asNobody(["ls", dataDir]).stdout).toContain("ctxd.sock");
      expect(openToNobody(dataDir)).toEqual([]);
      const call = `await fetch("http://localhost/open-dashboard", { method: "POST", unix: "${socket}" })`;
      expect(asNobody([process.execPath, "-e", "1"]).exitCode).toBe(0);
      expect(asNobody([process.execPath, "-e", call]).exitCode).not.toBe(0);
      expect(listeningPorts(serverOf(dataDir))).toEqual([]);
      expect(await bridge.end()).toBe(0);
    },
  );

  test("shows the set-up link only to its user, and in no argument of a program", async () => {
    const { bridge, pid } = await saveByAgent("said before");
    const bin = join(root, "bin");
    mkdirSync(bin);
    const opener = `#!/bin/sh\nprintf '%s\\n' "$@" > ${bin}/arguments\ncat "$1" > ${bin}/page\n`;
    for (const name of ["xdg-open", "open"])
      writeFileSync(join(bin, name), opener, { mode: 0o755 });
    const read = (name: string) => Bun.file(join(bin, name)).text();
    const env = { DISPLAY: ":0", PATH: `${bin}:${process.env.PATH}` };

    const first = await runDashboard([], env);
    const link = first.stdout.trim();
    expect(link).toMatch(/^http:\/\/localhost:\d+\/setup\?token=[\w-]{43}$/);
    if (isLinux)
      expect(new Set(listeningPorts(pid))).toEqual(new Set([Number(new URL(link).port)]));
    const page = (await read("arguments")).trim();
    expect(page).toBe(join(dataDir, "dashboard.html"));
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(await read("page")).toContain(`url=${link}`);
    const log = join(dataDir, "background.log");
    expect(await Bun.file(log).text()).toContain(link);
    expect(statSync(log).mode & 0o777).toBe(0o600);
    // The link stays the same while the server runs.
    expect((await runDashboard(["--no-browser"])).stdout).toBe(first.stdout);
    // Without a browser, no file contains the link.
    expect(existsSync(page)).toBe(false);
    expect((await runDashboard([], { PATH: env.PATH, DISPLAY: "" })).stdout).toBe(first.stdout);
    expect(existsSync(page)).toBe(process.platform === "darwin");

    const { origin } = new URL(link);
    const person = createPerson(origin);
    const next = await person.submit(await person.visit(link), OWNER);
    expect(next.text).toContain("Connect your first agent");
    const memories = await person.visit("/memories");
    expect(memories.text).toContain("said before");

    const second = await runDashboard([], env);
    expect(second.stdout.trim()).toBe(origin);
    expect((await read("arguments")).trim()).toBe(origin);
    expect(existsSync(page)).toBe(false);
    expect(await bridge.end()).toBe(0);
  });

  test("ends when its dashboard is unused, and reports a port that is in use", async () => {
    const server = start(dataDir, "serve", "--background", "3");
    // Otherwise `ctxd dashboard` may start the server.
    await until("the server's socket exists", () => existsSync(join(dataDir, "ctxd.sock")));
    const { stdout } = await runDashboard(["--no-browser"]);
    expect((await fetch(stdout.trim())).status).toBe(200);
    expect(await server.exited).toBe(0);

    const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") });
    try {
      const { stderr, exitCode } = await runDashboard([], { CTXD_PORT: `${other.port}` });
      expect(exitCode).toBe(1);
      expect(stderr).toContain(`Port ${other.port} is in use: stop the program that uses it`);
    } finally {
      await other.stop(true);
    }
  });
});
