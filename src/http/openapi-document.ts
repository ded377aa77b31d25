import { AppError } from "../errors.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
type JsonObject = { [name: string]: Json };

/**
 * Corrects the OpenAPI document that the plugin generates. Its schemas are those of OpenAPI 3.1, but it
 * lists bodies as forms and texts too, puts examples where only named ones are allowed, and marks
 * parameters with a default as required.
 */
export function mendDocument(made: unknown): JsonObject {
  // A copy without the fields that only TypeBox reads.
  const document = object(JSON.parse(JSON.stringify(made), mendValue));
  const paths = Object.entries(object(document.paths ?? {})).map(([path, operations]) => {
    for (const operation of Object.values(object(operations))) mendOperation(object(operation));
    return [path.replace(/(.)\/$/, "$1"), operations] as const;
  });
  return { ...document, openapi: "3.1.0", paths: Object.fromEntries(paths) };
}

function mendOperation(operation: JsonObject): void {
  if (Array.isArray(operation.parameters)) {
    operation.parameters = operation.parameters.map((parameter) =>
      mendParameter(object(parameter)),
    );
    if (operation.parameters.length === 0) delete operation.parameters;
  }
  if (operation.requestBody === undefined) return;
  const body = object(operation.requestBody);
  const json = object(body.content ?? {})["application/json"];
  if (json !== undefined) body.content = { "application/json": json };
}

function mendParameter({ examples, ...parameter }: JsonObject): JsonObject {
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
function mendValue(name: string, value: Json): Json | undefined {
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
