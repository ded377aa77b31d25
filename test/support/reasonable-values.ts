/** The keywords of JSON Schema in the schemas of the API and the tools. */
export interface JsonSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly $ref?: string;
}

/**
 * Creates values that a schema accepts, or nearly accepts, with all its fields.
 * @param random returns 0 to 1
 * @param known values of fields by their names, which are used nine times in ten
 */
export function createReasonableValues({
  random,
  known,
  definitions = {},
}: {
  random: () => number;
  known: readonly (readonly [name: RegExp, values: readonly unknown[]])[];
  /** What `$ref` refers to, by its last word. */
  definitions?: Readonly<Record<string, JsonSchema>>;
}) {
  const pick = <Item>(items: readonly Item[]): Item | undefined =>
    items[Math.floor(random() * items.length)];

  const someOf = (schema: JsonSchema, name = ""): unknown => {
    const [, values] = known.find(([pattern]) => pattern.test(name)) ?? [];
    if (values && random() < 0.9) return pick(values);
    if (schema.$ref !== undefined) {
      return someOf(definitions[schema.$ref.split("/").at(-1) ?? ""] ?? {}, name);
    }
    const ways = schema.anyOf ?? schema.oneOf;
    if (ways) return someOf(pick(ways) ?? {}, name);
    if (schema.type === "object") return objectOf(schema);
    if (schema.type === "array") {
      const count = 1 + Math.floor(random() * 2);
      return Array.from({ length: count }, () => someOf(schema.items ?? {}, name));
    }
    return scalarOf(schema);
  };

  const scalarOf = (schema: JsonSchema): unknown => {
    if (schema.const !== undefined) return schema.const;
    if (schema.enum) return pick(schema.enum);
    if (schema.examples?.length) return pick(schema.examples);
    if (schema.default !== undefined) return schema.default;
    if (schema.type === "boolean") return random() < 0.5;
    if (schema.type === "null") return null;
    if (schema.type === "string") return "text";
    return schema.minimum ?? 1;
  };

  /** What is required, and some of the rest. */
  const objectOf = ({ properties = {}, required = [] }: JsonSchema): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(properties)
        .filter(([name]) => required.includes(name) || random() < 0.3)
        .map(([name, schema]) => [name, someOf(schema, name)]),
    );

  return { pick, someOf, objectOf };
}
