import { Elysia } from "elysia";
import styles from "swagger-ui-dist/swagger-ui.css" with { type: "file" };
import script from "swagger-ui-dist/swagger-ui-bundle.js" with { type: "file" };
import { description, version } from "../../package.json" with { type: "json" };
import { AppError } from "../errors.ts";
import start from "./docs.browser.js" with { type: "text" };
import { ErrorBody } from "./openapi.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/**
 * Corrects the OpenAPI document that the plugin generates. Its schemas are those of OpenAPI 3.1, but it
 * lists bodies as forms and texts too, puts examples where only named ones are allowed, and marks
 * parameters with a default as required.
 */
function correctDocument(made: string): JsonObject {
  const document = object(JSON.parse(made, correctValue));
  const paths = Object.entries(object(document.paths ?? {})).map(([path, operations]) => {
    for (const operation of Object.values(object(operations))) correctOperation(object(operation));
    return [path.replace(/(.)\/$/, "$1"), operations] as const;
  });
  return { ...document, openapi: "3.1.0", paths: Object.fromEntries(paths) };
}

function correctOperation(operation: JsonObject): void {
  if (Array.isArray(operation.parameters)) {
    operation.parameters = operation.parameters.map((parameter) =>
      correctParameter(object(parameter)),
    );
    if (operation.parameters.length === 0) delete operation.parameters;
  }
  if (operation.requestBody === undefined) return;
  const body = object(operation.requestBody);
  const json = object(body.content ?? {})["application/json"];
  if (json !== undefined) body.content = { "application/json": json };
}

function correctParameter({ examples, ...parameter }: JsonObject): JsonObject {
  const schema = object(parameter.schema ?? {});
  return {
    ...parameter,
    required: parameter.required === true && schema.default === undefined,
    schema: examples === undefined ? schema : { ...schema, examples },
  };
}

/**
 * TypeBox writes alternative constants as `anyOf`; readers and tools expect `enum`. Elysia gives its
 * models an `$id`, against which OpenAPI 3.1 would resolve their references: it is removed.
 */
function correctValue(name: string, value: Json): Json | undefined {
  if (name === "$id") return undefined;
  if (!isObject(value) || !Array.isArray(value.anyOf)) return value;
  const { anyOf, ...rest } = value;
  const constants = anyOf.map((item) => (isObject(item) ? item.const : undefined));
  const known = constants.filter((constant) => typeof constant === "string");
  return known.length === anyOf.length ? { type: "string", enum: known, ...rest } : value;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function object(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new AppError("internal", "The API document could not be generated.");
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ctxd API</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="/favicon.ico">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/** Swagger UI writes styles and images into the page. Nothing is loaded from other hosts. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

const INTRODUCTION = `${description}.

Send an API key with every request: \`Authorization: Bearer ctx_…\`. Bodies are JSON in UTF-8; unknown
fields are refused. Times are UTC. Characters are Unicode code points.`;

/**
 * The API page at `/docs` and its OpenAPI document at `/docs/json`. The plugin writes the document.
 * Its own page would load a script from another host, so the page is ours.
 */
export function createDocs(publicUrl: string) {
  const asset = (body: string | Blob, type: string) => () =>
    new Response(body, { headers: { "content-type": type, "content-security-policy": POLICY } });
  const hidden = { detail: { hide: true } };

  // Loaded at the first request of the document: a server starts faster without the plugin.
  const load = async () => {
    const { swagger } = await import("@elysiajs/swagger");
    const plugin = swagger({
      path: "/docs",
      documentation: {
        info: {
          title: "ctxd",
          version,
          description: INTRODUCTION,
          contact: { name: "The operator of this server", url: publicUrl },
          license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
        },
        servers: [{ url: "/" }],
        tags: [
          { name: "memories", description: "Save, find, change and forget memories." },
          { name: "server", description: "The state of the server." },
        ],
        security: [{ apiKey: [] }],
        components: {
          securitySchemes: {
            apiKey: { type: "http", scheme: "bearer", description: "An API key: `ctx_…`." },
          },
        },
      },
    });
    docs.use(plugin);
    return plugin;
  };
  let loaded: ReturnType<typeof load> | undefined;

  const docs = new Elysia()
    .model({ Error: ErrorBody })
    .get(
      "/docs/json",
      async ({ request }) => {
        loaded ??= load();
        const plugin = await loaded;
        return correctDocument(await (await plugin.handle(request)).text());
      },
      hidden,
    )
    .get("/docs", asset(PAGE, "text/html; charset=utf-8"), hidden)
    .get("/docs/start.js", asset(start, "text/javascript; charset=utf-8"), hidden)
    .get("/docs/swagger-ui.js", asset(Bun.file(script), "text/javascript; charset=utf-8"), hidden)
    .get("/docs/swagger-ui.css", asset(Bun.file(styles), "text/css; charset=utf-8"), hidden);
  return docs;
}
