import { rawRequest } from "./raw-http.ts";

/** A generator of numbers in 0…1 that a seed repeats (mulberry32). */
function createRandom(seed: number) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Parts of requests, most of them malformed in some way; a seed makes the same ones again. */
export function createFuzzParts(seed: number) {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <Item>(items: readonly [Item, ...Item[]]): Item =>
    items[below(items.length)] ?? items[0];
  const one = (makers: readonly [() => string, ...(() => string)[]]): string => pick(makers)();
  const text = (most: number): string =>
    Array.from({ length: below(most) }, () =>
      pick([
        String.fromCharCode(97 + below(26)),
        String.fromCodePoint(0x20 + below(0x2000)),
        "🦜",
        "'",
        '"',
        "\\",
        "%",
        "\u0000",
        "\u202e",
        "\n",
      ]),
    ).join("");

  const oddJson = (): string =>
    one([
      () => "1e999",
      () => "-1e999",
      () => "1e-400",
      () => "123456789012345678901234567890",
      () => "-0",
      () => "null",
      () => "true",
      () => "[]",
      () => "{}",
      () => "[[[[[[[[]]]]]]]]",
      () => `${"[".repeat(below(3_000))}`,
      () => "[".repeat(2_000) + "]".repeat(2_000),
      () => `${'{"a":'.repeat(500)}1${"}".repeat(500)}`,
      () => JSON.stringify(text(40)),
      () => JSON.stringify("x".repeat(below(40_000))),
      () => '"\\ud800"',
      () => '"\\u0000"',
      () => '{"__proto__":{"content":"x"}}',
      () => '{"constructor":{"prototype":{"polluted":true}}}',
      () => '{"toJSON":1,"then":1,"length":-1}',
      () => JSON.stringify(Array.from({ length: below(300) }, () => text(8))),
    ]);
  const FIELDS = [
    "content",
    "tags",
    "agent_id",
    "session_id",
    "importance",
    "metadata",
    "memories",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "",
    "id",
  ] as const;
  const object = (): string => {
    const fields = Array.from({ length: below(5) }, () => [
      JSON.stringify(pick(FIELDS)),
      oddJson(),
    ]);
    return `{${fields.map((field) => field.join(":")).join(",")}}`;
  };
  const body = (): string =>
    one([
      () => "",
      object,
      object,
      object,
      () => `{"memories":[${object()},${object()}]}`,
      () => `{"content":"x","metadata":${oddJson()}}`,
      () => `{"content":"x","tags":${oddJson()}}`,
      () => `{"content":${oddJson()}}`,
      oddJson,
      () => object().slice(0, below(60)),
      () => `{"content":"x"}${text(5)}`,
      () => text(200),
      () => `\ufeff${object()}`,
      () => `content=${text(20)}`,
    ]);

  const segment = (): string =>
    one([
      () => encodeURIComponent(text(12)),
      () =>
        pick([
          "%",
          "%zz",
          "%ff",
          "%00",
          "%c0%af",
          "%2e%2e",
          "..",
          ".",
          "%2F",
          "",
          "*",
          "__proto__",
        ]),
      () => "x".repeat(below(3_000)),
      () => `mem_${"0".repeat(32)}`,
      () => pick(["search", "batch", "health", "memories", "constructor", "toString", "docs"]),
    ]);
  const path = (): string =>
    one([
      () => "/api/memories",
      () => "/api/memories/search",
      () => "/api/memories/batch",
      () => `/api/memories/${segment()}`,
      () => `/api/memories/mem_${"0".repeat(32)}`,
      () => `/api/${segment()}`,
      () => `/${segment()}/${segment()}`,
      () => "/api/memories//",
    ]);
  const NAMES = [
    "q",
    "limit",
    "tags",
    "tags_match",
    "agent_id",
    "session_id",
    "min_score",
    "created_after",
    "created_before",
    "mode",
    "cursor",
    "__proto__",
    "constructor",
    "q[]",
    "q.a",
    "",
  ] as const;
  const query = (): string =>
    Array.from({ length: below(5) }, () => {
      const value = one([
        () => encodeURIComponent(text(20)),
        () =>
          pick(["%", "%ff", "%00", "1e999", "-1", "NaN", "0x1", "[]", "{}", "null", "&", "=", "+"]),
        () => pick(["1", "50", "any", "all", "keyword", "2026-01-01", "2026-99-99", "x,y"]),
        () => "9".repeat(below(400)),
      ]);
      return pick([`${pick(NAMES)}=${value}`, pick(NAMES)]);
    }).join("&");

  return { random, below, pick, one, text, oddJson, object, body, segment, path, query, FIELDS };
}

/** Makes requests as bytes, most of them malformed in some way; a seed makes the same ones again. */
export function createFuzzer(seed: number, key: string) {
  const parts = createFuzzParts(seed);
  const { random, below, pick, oddJson, object, body, segment, path, query, FIELDS } = parts;

  const headers = () => {
    const chosen: Record<string, string> = {};
    if (random() < 0.9) chosen.authorization = `Bearer ${key}`;
    if (random() < 0.05)
      chosen.authorization = `${pick(["Bearer", "Basic", ""])} ${"x".repeat(below(200))}`;
    if (random() < 0.9) chosen["content-type"] = "application/json";
    if (random() < 0.1)
      chosen["content-type"] = pick(["text/plain", "x", "multipart/form-data", ";"]);
    if (random() < 0.1) chosen["idempotency-key"] = "x".repeat(below(300));
    if (random() < 0.1) chosen["if-match"] = pick(["*", '"x"', 'W/"x"', ",,,", '"'.repeat(50)]);
    if (random() < 0.05) chosen.cookie = pick(["a=b", "=;=;", "%ff=%", "__proto__=x; a"]);
    if (random() < 0.05) chosen["content-encoding"] = pick(["gzip", "br", "x"]);
    if (random() < 0.05) chosen["x-forwarded-proto"] = "https";
    if (random() < 0.03) chosen.host = pick(["example.com", "localhost:1", "[::1]", "a.b.c"]);
    if (random() < 0.03) chosen.upgrade = "websocket";
    if (random() < 0.05) chosen.accept = pick(["text/html", "*/*", "x"]);
    return chosen;
  };

  // Half of the requests are right but for one thing, to get past the first check.
  const ID = `mem_${"0".repeat(32)}`;
  const aimed = () =>
    pick([
      ["POST", "/api/memories", `{"content":"x","${pick(FIELDS)}":${oddJson()}}`],
      ["POST", "/api/memories/batch", `{"memories":[{"content":"x"},${object()}]}`],
      ["PUT", `/api/memories/${pick([ID, segment()])}`, `{"${pick(FIELDS)}":${oddJson()}}`],
      ["POST", "/api/memories", body()],
      ["GET", `/api/memories?${query()}`, ""],
      ["GET", `/api/memories/search?q=x&${query()}`, ""],
      ["DELETE", `/api/memories?tags=none&${query()}`, ""],
      ["DELETE", `/api/memories/${segment()}`, ""],
    ] as const);
  const METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"] as const;
  const wild = () => [pick(METHODS), `${path()}?${query()}`, body()] as const;

  return () => {
    const [method, target, content] = random() < 0.5 ? aimed() : wild();
    const bytes = Buffer.from(method === "GET" || method === "HEAD" ? "" : content);
    // Now and then a byte that makes the text no UTF-8.
    if (bytes.length > 0 && random() < 0.1) bytes[below(bytes.length)] = 0xff;
    const length = { "content-length": String(bytes.length) };
    const head = rawRequest(`${method} ${target}`, { ...headers(), ...length });
    return { method, request: Buffer.concat([head, bytes]) };
  };
}
