import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { program, start, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { spawnServer } from "../support/server-process.ts";

setDefaultTimeout(60_000);

/** Listens on the loopback address of IPv6 and records what it receives. Null without that address. */
function listenThere(port: number) {
  const got: string[] = [];
  try {
    const server = Bun.serve({
      hostname: "::1",
      port,
      fetch(request) {
        got.push(request.url);
        return new Response("");
      },
    });
    return { got, port: server.port ?? 0, stop: () => server.stop(true) };
  } catch {
    return null;
  }
}

const probe = listenThere(0);
await probe?.stop();
const why = probe ? "" : " (not tried: there is no [::1])";

test.skipIf(!probe)(
  `another user who listens on our port of [::1] first does not get the link${why}`,
  async () => {
    const stranger = listenThere(0);
    const port = `${stranger?.port}`;
    try {
      const dataDir = join(temporaryFolder(), "data");
      const server = start(dataDir, "serve", "--port", port);
      expect(await server.stderr.text()).toContain(`Port ${port} is in use at [::1]`);
      expect(await server.exited).toBe(1);

      const env = { ...program(dataDir).env, CTXD_PORT: port };
      const asked = await ctxd(["dashboard", "--no-browser"], { dataDir, env });
      expect(asked).toMatchObject({ exitCode: 1, stdout: "" });
      expect(asked.stderr).toContain(`Port ${port} is in use at [::1]`);
      await stopServer(dataDir);
      const doctor = await ctxd(["doctor"], { dataDir, env });
      expect(doctor.stdout).toContain(
        `problem  port: ${port} is in use at [::1] by another program`,
      );
      expect(stranger?.got).toEqual([]);
    } finally {
      await stranger?.stop();
    }
  },
);

test.skipIf(!probe)(`another user can't listen on our port of [::1] later${why}`, async () => {
  await using server = spawnServer(join(temporaryFolder(), "data"), "real");
  const { port } = new URL(await server.origin());
  expect(listenThere(Number(port))).toBeNull();
  const { status } = await fetch(`http://[::1]:${port}/api/health`);
  expect(status).toBe(200);
  expect((await fetch(`http://[::1]:${port}/api/memories`)).status).toBe(401);
});
