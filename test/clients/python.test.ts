import { afterAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createNamedMemories } from "../../src/clients/typescript/src/adapters/named.ts";
import { createClient } from "../../src/clients/typescript/src/index.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const PACKAGE = join(import.meta.dir, "../../src/clients/python");
/** One that has the frameworks tries the adapters too. */
const python = process.env.CTXD_TEST_PYTHON ?? Bun.which("python3");
/** What the tests and the examples named so import. */
const FRAMEWORKS: { [name: string]: string } = { langgraph: "langgraph", pydantic: "pydantic_ai" };
/** More accounts than any file of tests uses. */
const ACCOUNTS = 24;

const embedder = sharedEmbedder();
const server = await startServer();
const meaningful = await startServer({ embedder });
afterAll(() => Promise.all([server.close(), meaningful.close()]));

async function run(
  at: typeof server,
  ...options: string[]
): Promise<{ code: number; said: string }> {
  const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, () => at.account()));
  const keys = accounts.map(({ key }) => key);
  const child = Bun.spawn([python ?? "", "-W", "error", ...options], {
    cwd: PACKAGE,
    env: {
      PYTHONPATH: join(PACKAGE, "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      CTXD_URL: at.origin,
      CTXD_KEY: keys[0],
      CTXD_KEYS: keys.join(),
    },
    ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, said: out + errors };
}

/** Whether there is Python, and the framework that a file's name begins with. */
function canRun(file: string): boolean {
  if (!python) return false;
  const framework = FRAMEWORKS[file.split(/[_.]/)[0] ?? ""];
  if (!framework || Bun.spawnSync([python, "-c", `import ${framework}`]).success) return true;
  console.log(`${python} has no ${framework}: name one that has it in CTXD_TEST_PYTHON.`);
  return false;
}

const filesOf = (folder: string, name: RegExp) =>
  readdirSync(join(PACKAGE, folder)).flatMap((file) => name.exec(file)?.[1] ?? []);

describe("the Python client:", () => {
  for (const name of filesOf("tests", /^test_(.+)\.py$/)) {
    test.skipIf(!canRun(name))(`its tests of ${name}`, async () => {
      const { code, said } = await run(server, "-m", "unittest", `tests.test_${name}`);
      expect(said).toMatch(/^Ran [1-9]\d* tests/m);
      expect(said).toMatch(/^OK$/m);
      expect(said).not.toContain("ResourceWarning");
      expect(code).toBe(0);
    });
  }

  const SAID: { [example: string]: string } = {
    quickstart:
      "Sam is allergic to peanuts\nSam is allergic to peanuts and shellfish\nIt is gone.\n",
    langgraph_store: "['I am allergic to peanuts.']\n",
    pydantic_ai_agent: '"saved":true',
  };
  for (const name of filesOf("examples", /^(.+)\.py$/)) {
    test.skipIf(!canRun(name))(`its example ${name}`, async () => {
      await embedder.ready();
      const { code, said } = await run(meaningful, join("examples", `${name}.py`));
      expect(said).toContain(SAID[name] ?? "an example that is not tried");
      expect(code).toBe(0);
    });
  }

  test.skipIf(!python)("its named memories are those of the TypeScript package", async () => {
    const names = ["a:b", "a, b", " a", "a\u0007", "😀".repeat(33), "é".repeat(64), "x".repeat(65)];
    const { key } = await server.account();
    const ours = createNamedMemories(createClient({ url: server.origin, key, project: "atlas" }));
    const said = { content: "of TypeScript", metadata: {} };
    for (const name of names) await ours.put(name, ["group"], said);
    const program = `
import json, sys
from ctxd import Client
from ctxd._named import NamedMemories
url, key, names = sys.argv[1:]
with Client(key, url=url, project="atlas") as client:
    memories = NamedMemories(client)
    print(len(list(memories.list("group"))))
    for name in json.loads(names):
        memories.put(name, ["group"], {"content": memories.find(name)["content"] + " and Python", "metadata": {}})
`;
    const done = await run(server, "-c", program, server.origin, key, JSON.stringify(names));
    expect(done).toEqual({ code: 0, said: `${names.length}\n` });
    expect(await Array.fromAsync(ours.list(["group"]))).toHaveLength(names.length);
    for (const name of names) {
      expect(await ours.find(name)).toMatchObject({ content: "of TypeScript and Python" });
    }
  });

  test.skipIf(!python)("its types are those of the API's document", async () => {
    const { said } = await run(server, "-m", "tests.types_as_json");
    const types = JSON.parse(said) as Record<string, Fields>;
    const answer = await fetch(`${server.origin}/docs/json`);
    const { components, paths } = (await answer.json()) as Document;
    const { schemas } = components;
    for (const name of ["Memory", "FoundMemory", "SavedMemory", "ImportedMemory", "Stats"]) {
      expect(types[name]).toEqual(fieldsOf(schemas[name]));
    }
    const operation = (method: string, path: string) => paths[`/api/memories${path}`]?.[method];
    const { content: _, ...fields } = types.NewMemory ?? {};
    expect(types.NewMemory).toEqual(jsonOf(operation("post", "")?.requestBody));
    expect(types.MemoryFields).toEqual(fields);
    expect(types.MemoryChanges).toEqual(jsonOf(operation("put", "/{id}")?.requestBody));
    expect(types.DeletionFilter).toEqual(queryOf(operation("delete", "")));
    expect(types.ExportOptions).toEqual(queryOf(operation("get", "/export")));
    const { q, ...searching } = queryOf(operation("get", "/search"));
    expect([q, types.SearchOptions]).toEqual([true, searching]);
    const { limit, sort, cursor, ...listing } = queryOf(operation("get", ""));
    expect(types.ListOptions).toEqual(listing);
    expect(types.PageOptions).toEqual(queryOf(operation("get", "")));
    expect(types.FoundAbout).toEqual(jsonOf(operation("get", "/about")?.responses[200]));
    expect(types.Receipt).toEqual(jsonOf(operation("post", "/forget")?.responses[200]));
    expect(types.ImportReport).toEqual(jsonOf(operation("post", "/import")?.responses[200]));
  });

  test.skipIf(!python)("all but its adapters is Python 3.9", async () => {
    const files = filesOf("src/ctxd", /^(.+\.py)$/).filter(
      (file) => !FRAMEWORKS[file.split(/[_.]/)[0] ?? ""],
    );
    const code =
      "import ast, pathlib, sys\nfor path in sys.argv[1:]: ast.parse(pathlib.Path(path).read_text(), path, feature_version=(3, 9))";
    const paths = files.map((file) => join("src/ctxd", file));
    expect(await run(server, "-c", code, ...paths)).toEqual({ code: 0, said: "" });
  });
});

/** Fields, and which of them are needed. */
type Fields = { [name: string]: boolean };

interface Schema {
  properties: object;
  required?: string[];
}

interface Content {
  content: { "application/json": { schema: Schema } };
}

interface Operation {
  parameters: { in: string; name: string; required?: boolean }[];
  requestBody: Content;
  responses: { 200: Content };
}

interface Document {
  components: { schemas: Record<string, Schema> };
  paths: Record<string, Record<string, Operation>>;
}

function fieldsOf(schema: Schema | undefined): Fields {
  const { properties = {}, required = [] } = schema ?? {};
  return Object.fromEntries(Object.keys(properties).map((name) => [name, required.includes(name)]));
}

function queryOf(operation: Operation | undefined): Fields {
  const query = operation?.parameters.filter((parameter) => parameter.in === "query") ?? [];
  return Object.fromEntries(query.map(({ name, required = false }) => [name, required]));
}

const jsonOf = (content: Content | undefined): Fields =>
  fieldsOf(content?.content["application/json"].schema);
