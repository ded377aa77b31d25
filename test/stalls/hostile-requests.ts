import { hostileHeaders } from "./hostile-headers.ts";
import { type Hostile, requestsTo } from "./hostile-request.ts";
import { distinct, fill, json, KIB, MIB, type Text, within } from "./hostile-texts.ts";
import type { ProbedServer } from "./probed-server.ts";

type Server = Pick<ProbedServer, "key" | "session" | "token" | "origin">;
type Requests = ReturnType<typeof requestsTo>;

/** Bytes of an MCP message. */
const MESSAGE = 1_000_000;

/** Requests with every kind of body and header, as large as they may be. */
export function hostileRequests(server: Server, { batchBytes }: { batchBytes: number }): Hostile[] {
  const requests = requestsTo(server);
  return [
    ...memoryBodies(requests, batchBytes),
    ...mcpBodies(requests),
    ...formBodies(requests),
    ...uploads(requests, server.token),
    ...hostileHeaders(requests),
  ];
}

function memoryBodies({ all, asJson, asLines }: Requests, big: number): Hostile[] {
  const items = (item: string, bytes: number) => `{"memories":[${fill(`${item},`, bytes)}${item}]}`;
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
  ];
}

function mcpBodies({ all, asJson }: Requests): Hostile[] {
  const mcp = { ...asJson, accept: "application/json, text/event-stream" };
  const message = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;
  const saveOf = (fields: string) =>
    message("tools/call", `{"name":"save_memory","arguments":{${fields}}}`);
  return [
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
  ];
}

function formBodies({ all, asForm, cookie }: Requests): Hostile[] {
  const forms: Record<string, Text> = {
    "many fields": () => fill("a&", 64 * KIB),
    "distinct fields": () => distinct(64 * KIB, (name) => name).replaceAll(",", "&"),
    "one field again and again": () => fill("resource=a&", 64 * KIB),
    escapes: () => `grant_type=${fill("%f0%9f%98%80", 64 * KIB - 20)}`,
    "many scopes": () => `grant_type=refresh_token&scope=${fill("memories:read+", 64 * KIB - 60)}`,
  };
  return [
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
  ];
}

function uploads({ all, cookie }: Requests, token: string): Hostile[] {
  const boundary = { "content-type": "multipart/form-data; boundary=b" };
  const part = (name: string, text: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const file = (text: string) =>
    `${part("form_token", token)}--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n${text}\r\n--b--\r\n`;
  return [
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
  ];
}
