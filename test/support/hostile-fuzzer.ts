import { createFuzzParts } from "./fuzzer.ts";
import { rawRequest } from "./raw-http.ts";

/** How a request authenticates. */
export interface Credential {
  readonly name: string;
  readonly headers: Record<string, string>;
  /** The proof that its forms carry; null where it has none. */
  readonly formToken: string | null;
}

interface Route {
  readonly method: string;
  readonly path: string;
}

const TOOLS = [
  "save_memory",
  "recall_context",
  "search_memories",
  "list_memories",
  "get_memory",
  "update_memory",
  "delete_memory",
  "search",
  "fetch",
] as const;
const METHODS = [
  "tools/call",
  "tools/list",
  "resources/read",
  "prompts/get",
  "initialize",
] as const;
const FORM_FIELDS = [
  ...["name", "scope", "expires", "content", "tags", "importance", "to", "email", "password"],
  ...["current", "new_password", "dry_run", "id", "q", "token", "code", "client_id", "grant_type"],
  ...["redirect_uri", "refresh_token", "decision", "next", "metadata", "selected", "action"],
] as const;

/**
 * Makes requests to every route, by every kind of credential, about things of everybody's: right in all
 * but one thing, or in nothing. A seed makes the same ones again.
 * @param ids of what is in any account, to be asked for by all
 * @param host as the server is known by
 */
export function createHostileFuzzer(
  seed: number,
  {
    routes,
    credentials,
    ids,
    host,
  }: {
    routes: readonly Route[];
    credentials: readonly Credential[];
    ids: readonly string[];
    host: string;
  },
) {
  const { random, below, pick, one, text, oddJson, object, body, segment, path, query } =
    createFuzzParts(seed);
  // Preflights are many routes, and all the same.
  const asked = routes.filter(({ method }) => method !== "OPTIONS");
  const programs = asked.filter(({ path }) => /^\/(api|mcp)/.test(path));
  const choose = <Item>(items: readonly Item[], fallback: Item): Item =>
    items[below(items.length)] ?? fallback;
  const id = () => (random() < 0.9 ? choose(ids, "") : segment());
  const memoryIds = ids.filter((each) => each.startsWith("mem_"));
  const memoryId = () => (random() < 0.9 ? choose(memoryIds, "") : id());

  const fill = (pattern: string) =>
    pattern
      .replaceAll(/:\w+/g, pattern.includes("/memories") ? memoryId : id)
      .replaceAll("*", () => (random() < 0.5 ? segment() : id()));
  const value = () =>
    one([id, id, () => text(20), () => pick(["1", "true", "write", "read add", "365", "allow"])]);
  const form = ({ formToken }: Credential): string => {
    const fields = new URLSearchParams();
    if (formToken !== null && random() < 0.8) fields.set("form_token", formToken);
    for (let n = below(6); n > 0; n--) fields.append(choose(FORM_FIELDS, "name"), value());
    return fields.toString();
  };
  const message = (): string =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: pick(METHODS),
      params: {
        name: random() < 0.9 ? pick(TOOLS) : "load_context",
        uri: `memory://${random() < 0.3 ? "recent" : memoryId()}`,
        arguments: one([
          () => '{"query":"secret"}',
          () => JSON.stringify({ id: memoryId() }),
          () => JSON.stringify({ id: memoryId(), content: "changed" }),
          () => '{"content":"x"}',
          () => '{"task":"secret","limit":50}',
          () => "{}",
        ]),
      },
    }).replace(/"arguments":"((?:[^"\\]|\\.)*)"/, (_, quoted: string) => {
      const args: unknown = JSON.parse(JSON.parse(`"${quoted}"`));
      return `"arguments":${JSON.stringify(args)}`;
    });
  const json = (): string =>
    one([
      body,
      object,
      message,
      () => `{"content":"x","metadata":${oddJson()}}`,
      () => '{"content":"mine","tags":["a"]}',
      () => '{"memories":[{"content":"mine"},{"content":"too"}]}',
      () =>
        JSON.stringify({ id: memoryId(), content: "changed", updated_at: "2099-01-01T00:00:00Z" }),
    ]);
  const multipart = (credential: Credential): string =>
    [
      `--b\r\ncontent-disposition: form-data; name="form_token"\r\n\r\n${credential.formToken ?? ""}`,
      `--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${json()}`,
      "--b--\r\n",
    ].join("\r\n");

  /** What the routes of memories take, as it should be. */
  const rightful = (target: string): readonly [type: string, text: string] => {
    const memory = '{"content":"mine","tags":["a"]}';
    if (target.endsWith("/batch")) return ["application/json", `{"memories":[${memory}]}`];
    if (target.endsWith("/import")) return ["application/x-ndjson", `${memory}\n`];
    return ["application/json", target === "/mcp" ? message() : memory];
  };
  const hostile = (
    target: string,
    credential: Credential,
  ): readonly [type: string, text: string] =>
    one([
      () => (target.startsWith("/api/memories") ? "json" : "form"),
      () => pick(["json", "form", "lines", "multipart", "text"]),
    ]) === "form"
      ? ["application/x-www-form-urlencoded", form(credential)]
      : pick([
          ["application/json", json()],
          ["application/json", target === "/mcp" ? message() : json()],
          ["application/x-ndjson", `${json()}\n${json()}`],
          ["multipart/form-data; boundary=b", multipart(credential)],
          ["text/plain", text(50)],
        ] as const);

  /** A body and what it is called. */
  const content = (target: string, credential: Credential) =>
    /^\/(api\/memories|mcp)/.test(target) && random() < 0.5
      ? rightful(target)
      : hostile(target, credential);

  const searches = () =>
    one([
      query,
      query,
      () => "",
      () => "q=secret",
      () => `made=${id()}`,
      () => `to=${encodeURIComponent(value())}`,
    ]);

  return () => {
    const credential = choose(credentials, { name: "none", headers: {}, formToken: null });
    const route = choose(pick([programs, programs, asked, asked, routes]), {
      method: "GET",
      path: "/",
    });
    const isAimed = random() < 0.85;
    const target = isAimed ? fill(route.path) : path();
    const isOwn = /^(GET|POST|PUT|DELETE|PATCH|HEAD|OPTIONS)$/.test(route.method);
    const method =
      isOwn && random() < 0.95 ? route.method : pick(["GET", "POST", "PUT", "DELETE", "OPTIONS"]);
    const search = random() < 0.3 ? `?${searches()}` : "";
    const [type, sent] =
      method === "GET" || method === "HEAD" ? ["", ""] : content(target, credential);
    const bytes = Buffer.from(sent);
    const headers: Record<string, string> = {
      host: random() < 0.97 ? host : pick(["localhost", "example.com", "[::1]"]),
      ...(random() < 0.8 && { origin: `http://${host}` }),
      ...(random() < 0.1 && { origin: "https://evil.example" }),
      ...(type !== "" && { "content-type": type }),
      ...(target === "/mcp" && { accept: "application/json, text/event-stream" }),
      ...(random() < 0.1 && { accept: pick(["text/html", "*/*", "x"]) }),
      ...(random() < 0.1 && { "idempotency-key": pick(["shared", "x".repeat(below(300))]) }),
      ...(random() < 0.1 && { "if-match": pick(["*", '"x"', "", ",,,"]) }),
      ...(random() < 0.1 && { "x-forwarded-for": pick(["127.0.0.1", "x", "::1"]) }),
      ...(random() < 0.1 && { "x-forwarded-proto": "https" }),
      ...(random() < 0.1 && { "accept-encoding": "gzip" }),
      ...credential.headers,
      "content-length": String(bytes.length),
    };
    const head = rawRequest(`${method} ${target}${search}`, headers);
    return { credential, method, target, request: Buffer.concat([head, bytes]) };
  };
}
