import { description, version } from "../../package.json" with { type: "json" };
import { AppError } from "../errors.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

const INTRODUCTION = `${description}.

Send an API key with every request: \`Authorization: Bearer ctx_…\`. Bodies are JSON in UTF-8; unknown
fields are refused. Times are UTC. Characters are Unicode code points.`;

/** What the OpenAPI document says besides the requests. */
export const DOCUMENTATION = {
  info: {
    title: "ctxd",
    version,
    description: INTRODUCTION,
    license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
  },
  servers: [{ url: "/" }],
  tags: [
    { name: "memories", description: "Save, find, change and forget memories." },
    { name: "spaces", description: "Share memories with others." },
    { name: "server", description: "The state of the server." },
  ],
  security: [{ apiKey: [] }],
  components: {
    securitySchemes: {
      apiKey: { type: "http" as const, scheme: "bearer", description: "An API key: `ctx_…`." },
    },
  },
};

/**
 * Corrects the OpenAPI document that the plugin generates. Its schemas are those of OpenAPI 3.1, but it
 * lists bodies as forms and texts too, puts examples where only named ones are allowed, and marks
 * parameters with a default as required.
 */
export function correctDocument(made: string): JsonObject {
  const document = object(JSON.parse(made, correctValue));
  const paths = Object.entries(object(document.paths ?? {})).map(([path, operations]) => {
    for (const operation of Object.values(object(operations))) correctOperation(object(operation));
    return [path.replace(/(.)\/$/, "$1"), operations] as const;
  });
  const sorted = paths.sort(([one], [other]) => placeOf(one) - placeOf(other));
  return { ...document, openapi: "3.1.0", paths: Object.fromEntries(sorted) };
}

/** Saving and finding come before the rest. */
const FIRST = ["", "/search", "/{id}", "/{id}/history", "/batch", "/move"].map(
  (path) => `/api/memories${path}`,
);

function placeOf(path: string): number {
  const place = FIRST.indexOf(path);
  return place < 0 ? FIRST.length : place;
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
  const isRequired = parameter.required === true && schema.default === undefined;
  const [value = schema.default] = Array.isArray(examples) ? examples : [];
  return {
    ...parameter,
    required: isRequired,
    schema,
    // Scalar leaves a disabled example out of its samples: nobody sends all optional parameters at once.
    ...(value !== undefined && { examples: { example: { value, "x-disabled": !isRequired } } }),
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

/** All requests, with their summaries. */
export function requestsOf(document: JsonObject) {
  return Object.entries(object(document.paths ?? {})).flatMap(([path, operations]) =>
    Object.entries(object(operations)).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      summary: `${object(operation).summary}`,
    })),
  );
}
