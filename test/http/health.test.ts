import { expect, test } from "bun:test";
import { version } from "../../package.json" with { type: "json" };
import type { CheckResult } from "../../src/http/health.ts";
import { createDrain } from "../../src/http/load/drain.ts";
import { startServer } from "../support/server.ts";

async function ask(origin: string, path: string) {
  const response = await fetch(`${origin}/api/${path}`);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

test("a server whose database has failed is alive but not ready", async () => {
  let database: CheckResult = "ok";
  await using server = await startServer({ checks: { database: () => database } });
  const life = { status: 200, body: { status: "ok", version } };
  expect(await ask(server.origin, "health")).toMatchObject({ status: 200 });
  expect(await ask(server.origin, "health/live")).toMatchObject(life);
  database = "failed";
  expect(await ask(server.origin, "health")).toMatchObject({
    status: 503,
    body: { status: "failed", checks: { database: "failed" } },
  });
  expect(await ask(server.origin, "health/live")).toMatchObject(life);
});

test("a server whose object store is unreachable is ready and serves local data", async () => {
  await using server = await startServer({ checks: { objects: () => "unreachable" } });
  expect(await ask(server.origin, "health")).toMatchObject({
    status: 200,
    body: { status: "ok", checks: { objects: "unreachable" } },
  });
});

test("a stopping server reports at once that it is not ready, even if a check hangs, and still answers", async () => {
  const drain = createDrain();
  const hanging = Promise.withResolvers<CheckResult>();
  await using server = await startServer({ drain, checks: { database: () => hanging.promise } });
  const account = await server.account();
  const { id } = await account.save({ content: "still answered" });
  expect((await account.send("GET", `/memories/${id}`)).headers.get("connection")).not.toBe(
    "close",
  );
  drain.begin();
  expect(await ask(server.origin, "health")).toMatchObject({
    status: 503,
    body: { status: "failed", checks: { server: "stopping" } },
  });
  expect((await ask(server.origin, "health/live")).status).toBe(200);
  const answer = await account.send("GET", `/memories/${id}`);
  expect(answer).toMatchObject({ status: 200, body: { content: "still answered" } });
  expect(answer.headers.get("connection")).toBe("close");
});
