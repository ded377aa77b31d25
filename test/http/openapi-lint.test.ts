import { afterAll, expect, test } from "bun:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(() => server.close());

test("Redocly's recommended rules find nothing in the API's document", async () => {
  const config = await createConfig({ extends: ["recommended"] });
  const source = await (await fetch(`${server.origin}/docs/json`)).text();
  const problems = await lintFromString({ source, config });
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
});
