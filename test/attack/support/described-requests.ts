import type { createReasonableValues, JsonSchema } from "../../support/reasonable-values.ts";

export interface Wanted {
  /** The name of the request, such as a route or a tool. */
  name: string;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}

interface Operation {
  parameters?: { name: string; in: string; schema: JsonSchema }[];
  requestBody?: { content: Record<string, { schema: JsonSchema }> };
}

type Descriptions = Awaited<ReturnType<typeof readDescriptions>>;

/** What a server says that it takes: nobody has to add a route or a tool to the tests. */
export async function readDescriptions(origin: string, token: string) {
  const document = await (await fetch(`${origin}/docs/json`)).json();
  const { paths, components } = document as {
    paths: Record<string, Record<string, Operation>>;
    components: { schemas: Record<string, JsonSchema> };
  };
  const tools = new Map<string, JsonSchema>();
  for (const path of ["/mcp", "/mcp?connector=true"]) {
    const listed = await callMcp(origin, token, path, { method: "tools/list" });
    const { result } = listed as { result: { tools: { name: string; inputSchema: JsonSchema }[] } };
    for (const { name, inputSchema } of result.tools) tools.set(name, inputSchema);
  }
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      return { name: `${method.toUpperCase()} ${path}`, path, method, operation };
    }),
  );
  const names = [
    ...[...routes.map(({ name }) => name), ...[...tools.keys()].map((name) => `tool ${name}`)],
    ...["resources/read", "resources/list", "prompts/get"],
  ];
  return { routes, names, definitions: components.schemas, tools };
}

const MCP_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

async function callMcp(
  origin: string,
  token: string,
  path: string,
  message: object,
): Promise<unknown> {
  const answer = await fetch(origin + path, {
    method: "POST",
    headers: { ...MCP_HEADERS, authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  const text = await answer.text();
  return JSON.parse(
    text
      .split("\n")
      .find((line) => line.startsWith("data: "))
      ?.slice(6) ?? text,
  );
}

/**
 * Makes requests to all described routes and tools.
 * @param ids of memories that are asked for as resources
 * @param mcpHeaders made for each request to the tools
 */
export function createDescribedRequests({
  described,
  random,
  values: { pick, someOf, objectOf },
  ids,
  mcpHeaders = () => ({}),
}: {
  described: Descriptions;
  random: () => number;
  values: ReturnType<typeof createReasonableValues>;
  ids: readonly string[];
  mcpHeaders?: () => Record<string, string>;
}) {
  const { routes, definitions, tools } = described;
  const textOf = (value: unknown) => (Array.isArray(value) ? value.join(",") : String(value));
  const ofRoute = (): Wanted => {
    const {
      name,
      path,
      method,
      operation = {},
    } = pick(routes) ?? { name: "", path: "", method: "" };
    const { parameters = [], requestBody } = operation as Operation;
    const given = new Map(
      parameters
        .filter(({ in: where, name }) => where === "path" || name === "q" || random() < 0.3)
        .map(({ name, in: where, schema }) => {
          // Several kinds of things have an `id`.
          const [before = ""] = path.split(`/{${name}}`);
          const known = where === "path" ? `${before.split("/").at(-1)}/${name}` : name;
          return [name, { where, value: someOf(schema, known) }];
        }),
    );
    const of = (wanted: string) =>
      [...given]
        .filter(([, { where, value }]) => where === wanted && value != null)
        .map(([name, { value }]): [string, string] => [name, textOf(value)]);
    const query = new URLSearchParams(of("query"));
    const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
    const value = media ? objectOf(resolve(media.schema, definitions)) : null;
    const filled = of("path").reduce(
      (text, [name, each]) => text.replace(`{${name}}`, encodeURIComponent(each)),
      path,
    );
    return {
      name,
      path: query.size > 0 ? `${filled}?${query}` : filled,
      method: method.toUpperCase(),
      headers: { ...(type && { "content-type": type }), ...Object.fromEntries(of("header")) },
      body: value === null ? null : JSON.stringify(value),
    };
  };
  const toMcp = (name: string, method: string, params: object): Wanted => ({
    name,
    path: random() < 0.5 ? "/mcp" : "/mcp?connector=true",
    method: "POST",
    headers: { ...MCP_HEADERS, ...mcpHeaders() },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const ofTool = () => {
    const [name, schema] = pick([...tools]) ?? ["", {}];
    return toMcp(`tool ${name}`, "tools/call", { name, arguments: objectOf(schema) });
  };
  const ofResource = () => {
    const uri = random() < 0.3 ? "memory://recent" : `memory://${pick(ids)}`;
    return toMcp("resources/read", "resources/read", { uri });
  };
  const ofRest = () =>
    pick([
      () => toMcp("resources/list", "resources/list", {}),
      () =>
        toMcp("prompts/get", "prompts/get", {
          name: pick(["distill", "tidy"]),
          arguments: {},
        }),
      () =>
        toMcp("prompts/get", "prompts/get", {
          name: "load_context",
          arguments: { task: "lighthouse" },
        }),
    ])?.() ?? ofResource();

  const makers = [ofRoute, ofRoute, ofRoute, ofTool, ofTool, ofResource, ofRest];
  return () => (pick(makers) ?? ofRoute)();
}

function resolve(schema: JsonSchema, definitions: Readonly<Record<string, JsonSchema>>) {
  return definitions[schema.$ref?.split("/").at(-1) ?? ""] ?? schema;
}

/** Whether an answer is no success, in REST or MCP. */
export function isRefused(status: number, told: string): boolean {
  return status >= 400 || /"isError":true|"error":\{/.test(told);
}
