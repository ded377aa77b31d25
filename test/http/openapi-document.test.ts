import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { startServer, type TestServer } from "../support/server.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    examples?: { example?: { "x-disabled": boolean } };
  }[];
  requestBody?: { required: boolean; content: Record<string, unknown> };
  responses: Record<string, { description: string; content: Record<string, object> }>;
}

interface OpenApi {
  openapi: string;
  security: unknown;
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown>; securitySchemes: unknown };
}

let server: TestServer;
let text: string;
let document: OpenApi;

beforeAll(async () => {
  server = await startServer();
  text = await (await fetch(`${server.origin}/docs/json`)).text();
  document = JSON.parse(text);
});
afterAll(() => server.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("is the same in every answer", async () => {
  expect(await (await fetch(`${server.origin}/docs/json`)).text()).toBe(text);
});

test("is OpenAPI 3.1 with its key in the Authorization header", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.security).toEqual([{ apiKey: [] }]);
  expect(document.components.securitySchemes).toMatchObject({
    apiKey: { type: "http", scheme: "bearer" },
  });
});

test("names every operation once, with a summary and a tag", () => {
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { operation } of operations()) {
    expect(operation.operationId).toMatch(/^[a-z]+[A-Z][A-Za-z]+$/);
    expect(operation.summary).toMatch(/^[A-Z]/);
    expect(["memories", "spaces", "server"]).toContain(operation.tags?.join() ?? "");
  }
});

test("describes every parameter, and requires only those without a default", () => {
  const parameters = operations().flatMap(({ operation }) => operation.parameters ?? []);
  for (const parameter of parameters) {
    expect(parameter.description).toMatch(/\w/);
    // Samples contain what is required, and nothing else.
    const disabled = parameter.examples?.example?.["x-disabled"];
    if (disabled !== undefined) expect(disabled).toBe(!parameter.required);
    expect(parameter.examples ?? {}).not.toBeArray();
  }
  const required = parameters.filter((parameter) => parameter.required);
  expect([...new Set(required.map(({ name }) => name))].sort()).toEqual([
    "id",
    "q",
    "space",
    "undo",
  ]);
  for (const { path, operation } of operations()) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(inPath.length).toBe(path.split("{").length - 1);
  }
});

const JSON_TYPE = /^application\/(json|x-ndjson)$/;

test("uses only JSON, and lines of JSON for export and import", () => {
  // Metrics are in the format of Prometheus.
  const inJson = operations().filter(({ path }) => path !== "/api/metrics");
  for (const { operation } of inJson) {
    if (operation.requestBody) {
      expect(Object.keys(operation.requestBody.content)).toEqual([
        expect.stringMatching(JSON_TYPE),
      ]);
    }
    for (const response of Object.values(operation.responses)) {
      expect(Object.keys(response.content)).toEqual([expect.stringMatching(JSON_TYPE)]);
      expect(response.description).not.toBe("");
    }
  }
});

describe("the statuses of", () => {
  const always = ["401", "403", "429", "500", "503"];
  const withBody = [...always, "400", "413", "415", "422"];
  test.each([
    ["createMemory", ["200", "201", "404", "409", ...withBody]],
    ["createMemories", ["201", "404", "409", ...withBody]],
    ["searchMemories", ["200", "400", "422", ...always]],
    ["listMemories", ["200", "400", "422", ...always]],
    ["getMemory", ["200", "400", "404", "422", ...always]],
    ["getMemoryHistory", ["200", "400", "404", "422", ...always]],
    ["updateMemory", ["200", "404", "412", ...withBody]],
    ["deleteMemory", ["200", "400", "404", "422", ...always]],
    ["deleteMemories", ["200", "400", "422", ...always]],
    ["getHealth", ["200", "403", "503"]],
    ["getMetrics", ["200", "401", "403", "429", "500"]],
  ])("%s", (id, statuses) => {
    const found = operations().find(({ operation }) => operation.operationId === id);
    expect(Object.keys(found?.operation.responses ?? {})).toEqual([...statuses].sort());
  });
});

test("every reference has a target, also under the document's own address", () => {
  expect(text).not.toContain('"$id"');
  const names = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
  expect(names.length).toBe(text.split('"$ref"').length - 1);
  for (const [, name] of names) expect(document.components.schemas).toHaveProperty(name ?? "");
});
