import { afterAll, expect, test } from "bun:test";
import { treaty } from "@elysiajs/eden";
import type { App } from "../../src/app.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(() => server.close());

test("the types of the app make a typed Elysia client", async () => {
  const { key } = await server.account();
  const { api } = treaty<App>(server.origin, { headers: { authorization: `Bearer ${key}` } });
  const { data } = await api.memories.post(
    { content: "Sam is allergic to peanuts" },
    { query: { similar: "false" }, headers: {} },
  );
  const found = await api.memories.get({ query: { limit: 3 } });
  const content: string | undefined = found.data?.memories[0]?.content;
  expect(content).toBe("Sam is allergic to peanuts");
  expect(data).toMatchObject({ content });
});
