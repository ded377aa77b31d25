import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { Static, TObject } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { validationError } from "../http/validation.ts";

/**
 * Keywords that are checked but not published: `tools/list` costs tokens in every conversation, and
 * a model that breaks such a rule learns it from the error message.
 */
const UNPUBLISHED = new Set([
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "maxItems",
  "minProperties",
  "format",
]);

function publish(schema: object): Record<string, unknown> {
  // Serializing also drops the symbol keys of TypeBox and of our own checks.
  const text = JSON.stringify(schema, (key, value) =>
    // Additional properties are allowed by default.
    UNPUBLISHED.has(key) || (key === "additionalProperties" && value === true) ? undefined : value,
  );
  return JSON.parse(text);
}

/**
 * Adapts a TypeBox schema to the form that the MCP library takes (https://standardschema.dev). Error
 * messages are the same as over HTTP and do not repeat the value.
 */
export function toStandardSchema<Schema extends TObject>(
  schema: Schema,
): StandardSchemaWithJSON<Static<Schema>> {
  const shape = TypeCompiler.Compile(schema);
  const json = publish(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "ctxd",
      validate(value) {
        if (shape.Check(value)) return { value };
        const { details = [], message } = validationError(shape.Errors(value));
        const issues = details.map((detail) => ({
          message: `${detail.path.slice(1) || "the input"} ${detail.message}`,
        }));
        return { issues: issues.length > 0 ? issues : [{ message }] };
      },
      jsonSchema: { input: () => json, output: () => json },
    },
  };
}
