import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { AppError, type ErrorDetail } from "../../errors.ts";
import { problemOf } from "../../text/input-kinds.ts";

/** Mistakes that are collected. An input with more is refused all the same. */
const MAX_DETAILS = 20;

/**
 * Creates a check of values of one shape, which returns valid values.
 * @throws AppError `validation_failed`
 */
export function createCheck<Schema extends TSchema>(
  schema: Schema,
): (value: unknown) => Static<Schema> {
  let shape: TypeCheck<Schema> | undefined;
  return (value) => {
    shape ??= TypeCompiler.Compile(schema);
    if (!shape.Check(value)) throw validationError(shape.Errors(value));
    return value;
  };
}

/**
 * The first problem of each field, in words. Input is never repeated.
 * @param errors as TypeBox finds them
 */
export function validationError(errors: Iterable<ValueError>): AppError {
  const details = new Map<string, ErrorDetail>();
  let seen = 0;
  for (const error of errors) {
    const path = pathOf(error);
    if (!details.has(path)) details.set(path, { path, message: describe(error) });
    // All mistakes may be in one field. For a list that is too long, its items do not matter.
    if (++seen === MAX_DETAILS || error.type === ValueErrorType.ArrayMaxItems) break;
  }
  const [first] = details.values();
  const name = first?.path.slice(1) || "the request";
  return new AppError("validation_failed", `${name} ${first?.message ?? "is not valid"}.`, {
    details: [...details.values()],
  });
}

/** The path of the problem. An unknown field is a problem of the object around it. */
function pathOf({ type, path }: ValueError): string {
  return type === ValueErrorType.ObjectAdditionalProperties
    ? path.slice(0, path.lastIndexOf("/"))
    : path;
}

function describe({ type, schema, value }: ValueError): string {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return "is required";
    case ValueErrorType.ObjectAdditionalProperties:
      return `has an unknown field: it may have ${Object.keys(schema.properties).join(", ")}`;
    case ValueErrorType.ObjectMinProperties:
      return "must have at least one field";
    case ValueErrorType.ArrayMinItems:
      return `must have at least ${schema.minItems} items`;
    case ValueErrorType.ArrayMaxItems:
      return `must have at most ${schema.maxItems} items`;
    default:
      return expectation(schema, value);
  }
}

/** What a schema expects, as the end of a sentence. */
function expectation(schema: TSchema, value: unknown): string {
  const problem = problemOf(schema, value);
  if (problem) return problem;
  if (Array.isArray(schema.anyOf)) return alternatives(schema.anyOf, value);
  switch (schema.type) {
    case "integer":
      return `must be a whole number${range(schema)}`;
    case "number":
      return `must be a number${range(schema)}`;
    case "array":
      return "must be a list";
    case "object":
      return "must be a JSON object";
    default:
      return `must be ${schema.const ?? `a ${schema.type}`}`;
  }
}

function alternatives(schemas: TSchema[], value: unknown): string {
  const constants = schemas.map((schema) => schema.const).filter((constant) => constant);
  if (constants.length > 0) return `must be one of ${constants.join(", ")}`;
  // Elysia describes a number in a query string as "numeric text or number": only the number matters.
  const main = schemas.find(({ type }) => /^(integer|number)$/.test(type)) ?? schemas[0];
  const orNull = schemas.some(({ type }) => type === "null") ? ", or null" : "";
  return main ? `${expectation(main, value)}${orNull}` : "is not valid";
}

function range({ minimum, maximum }: TSchema): string {
  return minimum === undefined ? "" : ` from ${minimum} to ${maximum}`;
}

/**
 * Refuses query strings of which a part would be ignored silently: repeated parameters, and escape
 * sequences that are not UTF-8.
 * @throws AppError `malformed_request` or `validation_failed`
 */
export function checkQueryString(request: Request): void {
  const start = request.url.indexOf("?");
  if (start < 0) return;
  const seen = new Set<string>();
  for (const parameter of request.url.slice(start + 1).split("&")) {
    const name = decode(parameter).split("=", 1)[0] ?? "";
    if (seen.has(name)) {
      throw new AppError("validation_failed", "A query parameter is given more than once.");
    }
    seen.add(name);
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    const message = "The query string is not well-formed: check its % escapes.";
    throw new AppError("malformed_request", message, { cause });
  }
}
