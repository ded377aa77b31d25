import { rawRequest } from "../support/raw-http.ts";
import type { ProbedServer } from "./probed-server.ts";

const MIB = 1 << 20;
const KIB = 1 << 10;
/** Bytes of a message of an agent. */
const MESSAGE = 1_000_000;

/** A request that is to hold a server up, as bytes. */
export interface Hostile {
  readonly name: string;
  /** Made when it is wanted: all together would take gigabytes. */
  readonly request: () => Uint8Array;
}

/** A text that is made when it is wanted. */
type Text = () => string;

/** As many copies of a text as fit into so many bytes. */
const fill = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));

/** Distinct texts of eight characters, put together. */
function distinct(bytes: number, make: (text: string) => string): string {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < bytes; n++) {
    const part = make(n.toString(36).padStart(8, "k"));
    parts.push(part);
    length += part.length + 1;
  }
  return parts.slice(0, -1).join(",");
}

/** JSON that is hard on a parser or on who checks it, about so long. */
const json = (bytes: number): Record<string, Text> => ({
  "open brackets": () => fill("[", bytes),
  "deep lists": () => fill("[", bytes / 2) + fill("]", bytes / 2),
  "deep objects": () => `${fill('{"a":', bytes / 6)}1${fill("}", bytes / 6)}`,
  "empty lists": () => `[${fill("[],", bytes - 4)}0]`,
  "empty objects": () => `[${fill("{},", bytes - 4)}0]`,
  numbers: () => `[${fill("1e9,", bytes - 4)}0]`,
  "one number": () => `[${fill("9", bytes - 2)}]`,
  "distinct names": () => `{${distinct(bytes - 2, (name) => `"${name}":0`)}}`,
  "one name": () => `{${fill('"a":0,', bytes - 8)}"a":0}`,
  escapes: () => `"${fill("\\ud83d\\ude00", bytes - 2)}"`,
  "white space": () => fill(" ", bytes),
});

const within = (before: string, values: Record<string, Text>, after: string) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `${name} in ${before}`,
      () => before + value() + after,
    ]),
  );

/** Requests of every kind of body and header, as large as they may be. */
export function hostileRequests(
  server: Pick<ProbedServer, "key" | "session" | "token" | "origin">,
  { batchBytes }: { batchBytes: number },
): Hostile[] {
  const bearer = { authorization: `Bearer ${server.key}` };
  const cookie = { cookie: `ctxd-session=${server.session}`, origin: server.origin };
  const send = (line: string, headers: Record<string, string>, body: string | Uint8Array = "") => {
    const bytes = Buffer.from(body);
    const length = { host: new URL(server.origin).host, "content-length": String(bytes.length) };
    return Buffer.concat([rawRequest(line, { ...length, ...headers }), bytes]);
  };
  const all = (
    group: string,
    line: string,
    headers: Record<string, string>,
    bodies: Record<string, Text>,
  ): Hostile[] =>
    Object.entries(bodies).map(([name, body]) => ({
      name: `${group}: ${name}`,
      request: () => send(line, headers, body()),
    }));
  const asJson = { ...bearer, "content-type": "application/json" };
  const asLines = { ...bearer, "content-type": "application/x-ndjson" };
  const asForm = { "content-type": "application/x-www-form-urlencoded" };
  const forms = {
    "many fields": () => fill("a&", 64 * KIB),
    "distinct fields": () => distinct(64 * KIB, (name) => name).replaceAll(",", "&"),
    "one field again and again": () => fill("resource=a&", 64 * KIB),
    escapes: () => `grant_type=${fill("%f0%9f%98%80", 64 * KIB - 20)}`,
    "many scopes": () => `grant_type=refresh_token&scope=${fill("memories:read+", 64 * KIB - 60)}`,
  };
  const items = (item: string, bytes: number) => `{"memories":[${fill(`${item},`, bytes)}${item}]}`;
  const message = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
  const saveOf = (fields: string) =>
    message("tools/call", `{"name":"save_memory","arguments":{${fields}}}`);
  const mcp = { ...asJson, accept: "application/json, text/event-stream" };
  const boundary = { "content-type": "multipart/form-data; boundary=b" };
  const part = (name: string, text: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const file = (text: string) =>
    `${part("form_token", server.token)}--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${text}\r\n--b--\r\n`;
  const big = batchBytes;
  const query = (text: string) => send(`GET /api/memories?${text}`, bearer);
  const headers = (fields: Record<string, string>, line = "GET /api/memories") =>
    send(line, { ...bearer, ...fields });

  return [
    ...all("POST /memories", "POST /api/memories", asJson, {
      ...json(MIB),
      ...within('{"content":"x","metadata":', json(MIB - 30), "}"),
      ...within('{"content":"x","tags":', json(MIB - 30), "}"),
      ...within('{"content":', json(MIB - 30), "}"),
      "unknown fields": () => `{"content":"x",${distinct(MIB - 30, (name) => `"${name}":0`)}}`,
      "blank content": () => JSON.stringify({ content: " ".repeat(MIB - 30) }),
      "blank tag": () => JSON.stringify({ content: "x", tags: [" ".repeat(MIB - 40)] }),
      "many tags": () => `{"content":"x","tags":[${distinct(MIB - 30, (name) => `"${name}"`)}]}`,
      "largest content": () => JSON.stringify({ content: fill("\u0001", 32_768) }),
      "content of accents": () => JSON.stringify({ content: fill("a\u0301\u0323", 32_768) }),
      "content of ligatures": () => JSON.stringify({ content: fill("\ufdfa", 32_768) }),
      "content of spaces": () => JSON.stringify({ content: `x${fill(" ", 32_766)}x` }),
      "content of sentence ends": () => JSON.stringify({ content: fill(".)", 32_768) }),
    }),
    ...all("POST /memories/batch", "POST /api/memories/batch", asJson, {
      ...json(big),
      ...within('{"memories":', json(big - 20), "}"),
      ...within('{"memories":[', json(big - 20), "]}"),
      "wrong items": () => items("0", big - 20),
      "empty items": () => items("{}", big - 20),
      "items with unknown fields": () => items('{"content":"x","a":1,"b":2}', big - 60),
      "256 items of unknown fields": () =>
        `{"memories":[${Array.from({ length: 256 }, () => `{${distinct(big / 260, (name) => `"${name}":0`)}}`).join(",")}]}`,
      "256 items of metadata": () =>
        `{"memories":[${Array.from({ length: 256 }, () => `{"content":"x","metadata":{${distinct(big / 260, (name) => `"${name}":0`)}}}`).join(",")}]}`,
    }),
    ...all("POST /memories/import", "POST /api/memories/import?dry_run=true", asLines, {
      "empty lines": () => fill("\n", 32 * MIB),
      "empty objects": () => fill("{}\n", 32 * MIB),
      "broken lines": () => fill("[\n", 32 * MIB),
      "one line": () => fill("x", 32 * MIB),
      ...Object.fromEntries(
        Object.entries(json(MIB - 2)).map(([name, line]) => [
          `lines: ${name}`,
          () => fill(`${line()}\n`, 8 * MIB),
        ]),
      ),
      "small memories": () => fill('{"content":"x","created_at":"2026-01-01"}\n', 8 * MIB),
    }),
    ...all("POST /mcp", "POST /mcp", mcp, {
      ...json(MESSAGE),
      ...within('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":', json(MESSAGE - 99), "}"),
      ...within(
        '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"save_memory","arguments":',
        json(MESSAGE - 120),
        "}}",
      ),
      "unknown arguments": () =>
        saveOf(`"content":"x",${distinct(MESSAGE - 150, (name) => `"${name}":0`)}`),
      "metadata of names": () =>
        saveOf(`"content":"x","metadata":{${distinct(MESSAGE - 160, (name) => `"${name}":0`)}}`),
      "meta of names": () =>
        message("tools/list", `{"_meta":{${distinct(MESSAGE - 99, (name) => `"${name}":0`)}}}`),
      "many messages": () =>
        `[${fill('{"jsonrpc":"2.0","id":1,"method":"tools/list"},', MESSAGE - 60)}{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
      "many notifications": () =>
        `[${fill('{"jsonrpc":"2.0","method":"x"},', MESSAGE - 60)}{"jsonrpc":"2.0","method":"x"}]`,
      "long uri": () =>
        message("resources/read", `{"uri":"memory://${fill("a/", MESSAGE - 120)}"}`),
      "long method": () => message(fill("a", MESSAGE - 80), "{}"),
    }),
    ...[
      "/api/oauth/token",
      "/api/oauth/revoke",
      "/api/oauth/authorize",
      "/sign-in",
      "/setup",
    ].flatMap((path) => all(`POST ${path}`, `POST ${path}`, asForm, forms)),
    ...all("POST /keys", "POST /keys", { ...asForm, ...cookie }, forms),
    ...all("POST /memories (page)", "POST /memories/add", { ...asForm, ...cookie }, forms),
    ...all(
      "POST /api/oauth/register",
      "POST /api/oauth/register",
      { "content-type": "application/json" },
      { ...json(64 * KIB), ...within('{"redirect_uris":', json(64 * KIB - 20), "}") },
    ),
    ...all(
      "POST /memories/import (page)",
      "POST /memories/import",
      { ...boundary, ...cookie },
      {
        "many parts": () => `${fill(part("a", ""), 32 * MIB - 200)}--b--\r\n`,
        "many line breaks": () => fill("\r\n--", 32 * MIB),
        "many boundaries": () => fill("--b\r\n", 32 * MIB),
        "a long header": () => `--b\r\n${fill("x", 32 * MIB - 20)}`,
        "many headers": () => `--b\r\n${fill("a: b\r\n", 32 * MIB - 20)}`,
        "empty lines": () => file(fill("\n", 32 * MIB - 300)),
        "broken lines": () => file(fill("[\n", 32 * MIB - 300)),
        "one line": () => file(fill("x", 32 * MIB - 300)),
      },
    ),
    ...(
      [
        ["distinct parameters", query(distinct(60 * KIB, (name) => name).replaceAll(",", "&"))],
        ["parameters with brackets", query(fill("a[]=1&", 60 * KIB))],
        ["escapes", query(`tags=${fill("%f0%9f%98%80", 60 * KIB)}`)],
        ["plus signs", query(`tags=${fill("+", 60 * KIB)}`)],
        ["many tags", query(`tags=${fill("a,", 60 * KIB)}`)],
        ["a long number", query(`limit=${fill("9", 60 * KIB)}`)],
        ["a long date", query(`created_after=${fill("2", 60 * KIB)}`)],
        ["a long cursor", query(`cursor=${fill("a", 60 * KIB)}`)],
        ["a long query", send(`GET /api/memories/search?q=${fill("a%20", 8_000)}`, bearer)],
        [
          "a query of months",
          send(`GET /api/memories/search?q=${fill("last%20may%20", 24_000)}`, bearer),
        ],
        [
          "a query of accents",
          send(`GET /api/memories/search?q=${fill("%cc%a3%cc%81", 24_000)}`, bearer),
        ],
        ["a long path", send(`GET /api/memories/${fill("a/", 60 * KIB)}`, bearer)],
        ["a path of escapes", send(`GET /${fill("%2e%2e%2f", 60 * KIB)}`, bearer)],
        [
          "If-Match",
          headers({ "if-match": fill('"x",', 60 * KIB) }, `PUT /api/memories/mem_${fill("0", 32)}`),
        ],
        [
          "Idempotency-Key",
          headers({ "idempotency-key": fill("x", 60 * KIB) }, "POST /api/memories"),
        ],
        [
          "Authorization",
          send("GET /api/memories", {
            authorization: `Bearer ${fill(" ", 30 * KIB)}x${fill(" ", 30 * KIB)}x`,
          }),
        ],
        [
          "Authorization of letters",
          send("GET /api/memories", { authorization: `Bearer ${fill("x", 60 * KIB)}` }),
        ],
        [
          "Basic",
          send("POST /api/oauth/token", {
            ...asForm,
            authorization: `Basic ${fill("eDp4", 60 * KIB)}`,
          }),
        ],
        ["cookies", send("GET /keys", { cookie: fill("a=b;", 60 * KIB) })],
        ["cookies of ours", send("GET /keys", { cookie: fill("ctxd-session=b;", 60 * KIB) })],
        ["Accept", headers({ accept: fill("text/html;q=0.1,", 60 * KIB) }, "GET /nothing")],
        [
          "Accept-Language",
          send("GET /sign-in", { "accept-language": fill("en;q=0.1,", 60 * KIB) }),
        ],
        [
          "Content-Type",
          headers(
            { "content-type": `application/json${fill(";a=b", 60 * KIB)}` },
            "POST /api/memories",
          ),
        ],
        [
          "multipart boundary",
          send(
            "POST /memories/import",
            { ...cookie, "content-type": `multipart/form-data; ${fill("boundary=", 60 * KIB)}` },
            "x",
          ),
        ],
        ["X-Forwarded-For", headers({ "x-forwarded-for": fill("1,", 60 * KIB) })],
        ["Origin", headers({ origin: `http://${fill("a.", 60 * KIB)}` }, "POST /mcp")],
        ["User-Agent", headers({ "user-agent": fill("Mozilla/5.0 (", 60 * KIB) }, "GET /account")],
        ["MCP agent", headers({ "ctxd-agent": fill("%20", 60 * KIB) }, "POST /mcp")],
        [
          "many headers",
          Buffer.from(
            `GET /api/memories HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${fill("a: b\r\n", 60 * KIB)}\r\n`,
          ),
        ],
      ] as [string, Uint8Array][]
    ).map(([name, request]) => ({
      name: `header: ${name}`,
      request: () => request,
    })),
  ];
}
