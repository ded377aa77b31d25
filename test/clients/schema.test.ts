import { expect, mock, test } from "bun:test";
import { join } from "node:path";
import ts from "typescript-5";
import { startServer } from "../support/server.ts";

// It makes its text with the compiler's library, which versions after 5 don't have.
await mock.module("typescript", () => ({ default: ts }));
const { default: openapiTypeScript, astToString } = await import("openapi-typescript");

const SCHEMA = join(import.meta.dir, "../../src/clients/typescript/src/schema.ts");
const HEADER =
  "// Made from the server's document: CTXD_WRITE=1 bun test test/clients/schema.test.ts\n";

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
  components: { schemas: Record<string, unknown> };
}

/** The types of the endpoints that the client calls. It has one type for all errors. */
async function makeSchema(document: Document): Promise<string> {
  const called = /^\/api\/(memories|stats)/;
  const paths = Object.entries(document.paths).filter(([path]) => called.test(path));
  for (const [, operations] of paths) {
    for (const operation of Object.values(operations)) {
      const answers = Object.entries(operation.responses);
      operation.responses = Object.fromEntries(answers.filter(([status]) => status < "300"));
    }
  }
  // What nothing here answers; its examples have the version.
  const { Health, Life, ...schemas } = document.components.schemas;
  const components = { ...document.components, schemas };
  const shown = { ...document, components, paths: Object.fromEntries(paths) };
  const types = await openapiTypeScript(JSON.stringify(shown), { defaultNonNullable: false });
  return HEADER + astToString(types);
}

test("the TypeScript client's types are those of the API's document", async () => {
  await using server = await startServer();
  const document = (await (await fetch(`${server.origin}/docs/json`)).json()) as Document;
  const schema = await makeSchema(document);
  if (process.env.CTXD_WRITE) await Bun.write(SCHEMA, schema);
  expect(await Bun.file(SCHEMA).text()).toBe(schema);
});
