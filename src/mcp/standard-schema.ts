import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { Static, TObject } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { validationError } from "../http/validation.ts";

/**
 * Keywords that are checked but not published: `tools/list` costs every conversation its tokens,
 * and a model learns from the answer when it oversteps one.
 */
const UNPUBLISHED = new Set([
  ...["minimum", "maximum", "minLength", "maxLength", "maxItems", "minProperties", "format"],
]);

function publish(schema: object): Record<string, unknown> {
  // The text is also without the symbols in which TypeBox and our own checks keep what is theirs.
  const text = JSON.stringify(schema, (key, value) =>
    // Any further field is welcome where nothing is said of them.
    UNPUBLISHED.has(key) || (key === "additionalProperties" && value === true) ? undefined : value,
  );
  return JSON.parse(text);
}

/**
 * A TypeBox schema in the form that the MCP library takes (https://standardschema.dev). What is
 * wrong with a value is said in the same words as over HTTP, and the value is not repeated.
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
