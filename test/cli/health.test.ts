import { afterEach, expect, test } from "bun:test";
import { ctxd } from "../support/command-line.ts";

const servers: Bun.Server<undefined>[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

/** A server that always gives one answer, and the setting with its port. */
function answering(answer: () => Response | Promise<Response>): { CTXD_PORT: string } {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: answer });
  servers.push(server);
  return { CTXD_PORT: String(server.port) };
}

const checks = { database: "ok", embedding: "loading" };

test("for a healthy server the exit code is 0, with one line", async () => {
  const env = answering(() => Response.json({ status: "ok", version: "1", checks }));
  expect(await ctxd(["health"], { env })).toEqual({
    stdout: "",
    stderr: `http://127.0.0.1:${env.CTXD_PORT}: ok (database ok, embedding loading)\n`,
    exitCode: 0,
  });
  expect(await ctxd(["health"], { env: { ...env, CTXD_HOST: "0.0.0.0" } })).toMatchObject({
    exitCode: 0,
  });
  const byUrl = ["health", "--url", `http://localhost:${env.CTXD_PORT}`];
  expect(await ctxd(byUrl)).toMatchObject({ exitCode: 0 });
});

test("requests to this machine use no proxy", async () => {
  const env = answering(() => Response.json({ status: "ok", version: "1", checks }));
  const proxy = "http://127.0.0.1:9";
  expect(
    await ctxd(["health"], { env: { ...env, HTTP_PROXY: proxy, http_proxy: proxy } }),
  ).toMatchObject({ exitCode: 0 });
});

test.each([
  ["has failed", () => Response.json({ status: "failed", checks }, { status: 503 }), "failed ("],
  ["is not ctxd", () => new Response("hello"), "is not ctxd"],
] as const)("a server that %s is 1 and one line", async (_, answer, reason) => {
  const { stderr, exitCode } = await ctxd(["health"], { env: answering(answer) });
  expect({ exitCode, lines: stderr.split("\n").length - 1 }).toEqual({ exitCode: 1, lines: 1 });
  expect(stderr).toContain(reason);
});

test("without a server the exit code is 1, with one line", async () => {
  const env = answering(() => new Response());
  await servers.pop()?.stop(true);
  expect(await ctxd(["health"], { env })).toMatchObject({
    stderr: `ctxd: No server answers at http://127.0.0.1:${env.CTXD_PORT} (ECONNREFUSED): ctxd serve starts one.\n`,
    exitCode: 1,
  });
});

test("an invalid address is wrong usage", async () => {
  expect(await ctxd(["health", "--url", "localhost"])).toMatchObject({ exitCode: 2 });
});
