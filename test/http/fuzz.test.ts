import { afterAll, expect, test } from "bun:test";
import { createFuzzer } from "../support/fuzzer.ts";
import { type RawAnswer, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();
const kept = await ada.save({ content: "must survive" });

const REQUESTS = 1_000;
/** FUZZ_SEED=… generates other requests. */
const SEED = Number(process.env.FUZZ_SEED ?? 2_026);

const CODES = [
  "malformed_json",
  "malformed_request",
  "unauthorized",
  "forbidden",
  "https_required",
  "not_found",
  "memory_not_found",
  "method_not_allowed",
  "conflict",
  "precondition_failed",
  "too_large",
  "unsupported_media_type",
  "validation_failed",
];
/** Matches stack traces, paths of the machine and names of libraries. */
const LEAKS =
  /\bat \S+ \(|\.ts\b|\.mjs\b|node_modules|\/src\/|elysia|typebox|lance|sqlite|bunfs|Error:/i;

test(`${REQUESTS} malformed requests (FUZZ_SEED=${SEED}) are refused with a message, and cause no server error`, async () => {
  const next = createFuzzer(SEED, ada.key);
  const seen = new Map<string, number>();
  for (let sent = 0; sent < REQUESTS; sent += 20) {
    const group = Array.from({ length: 20 }, next);
    const answers = await Promise.all(group.map(({ request }) => sendRaw(server.port, request)));
    for (const [index, { status, headers, body }] of answers.entries()) {
      const { method = "", request = Buffer.alloc(0) } = group[index] ?? {};
      const shown = request.toString().replace(ada.key, "KEY").slice(0, 1_000);
      const problem = problemOf(method, targetOf(request), { status, headers, body });
      if (problem) throw new Error(`FUZZ_SEED=${SEED}: ${problem}\n${shown}\n→ ${status} ${body}`);
      const code = /"code":"(\w+)"/.exec(body)?.[1] ?? String(status);
      seen.set(code, (seen.get(code) ?? 0) + 1);
    }
  }
  // Enough requests succeed for the test to be meaningful.
  for (const code of ["malformed_json", "malformed_request", "validation_failed", "200"]) {
    expect([...seen.keys()]).toContain(code);
  }
  expect(await ada.get(kept.id)).toEqual(kept);
  expect(Object.keys(Object.prototype)).toEqual([]);
});

/** The path and query of a request, as far as it has one. */
function targetOf(request: Uint8Array): string {
  return Buffer.from(request).toString("latin1").split(" ", 2)[1] ?? "";
}

/** The mistake in an answer, or null. */
function problemOf(
  method: string,
  target: string,
  { status, headers, body }: RawAnswer,
): string | null {
  if (status === 0) return "no answer";
  if (status >= 500) return "the server failed";
  if (status < 400) return null;
  if (LEAKS.test(body)) return "a leak";
  if (method === "HEAD") return body === "" ? null : "HEAD with a body";
  const type = headers.get("content-type") ?? "";
  // Other paths may answer with a page.
  if (type.startsWith("text/html") && !target.startsWith("/api")) return null;
  if (!type.startsWith("application/json")) return "no JSON";
  const parsed: unknown = JSON.parse(body);
  const code = /^\{"error":\{"code":"(\w+)","message":"./.exec(JSON.stringify(parsed))?.[1];
  return code && CODES.includes(code) ? null : "an unknown code";
}

test("the server keeps running after bytes that are not HTTP", async () => {
  const auth = `Authorization: Bearer ${ada.key}\r\n`;
  const post = `POST /api/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${auth}`;
  const garbage = [
    "",
    "\r\n\r\n",
    "hello\r\n\r\n",
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    "get /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "FOO /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /api/health HTTP/1.1\r\n\r\n",
    "GET /api/health HTTP/1.1\r\nHost localhost\r\n\r\n",
    "GET /api/health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    `GET /${"x".repeat(200_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(200_000)}\r\n\r\n`,
    `GET / HTTP/1.1\r\nHost: localhost\r\n${"a: b\r\n".repeat(5_000)}\r\n`,
    "GET / HTTP/1.1\r\nHost: localhost\r\nX: \u0000\u0001\r\n\r\n",
    "GET /api/memories HTTP/1.1\r\nHost: local",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `${post}Content-Length: -1\r\n\r\n{}`,
    `${post}Content-Length: x\r\n\r\n{}`,
    `${post}Content-Length: 1e9\r\n\r\n{}`,
    `${post}Content-Length: 99999999999999999999\r\n\r\n{}`,
    `${post}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    `${post}Content-Length: 500\r\n\r\n{"content":"half`,
    `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    `${post}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx`,
    `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{"con`,
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n`,
    Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 167) % 256)),
    Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]),
  ];
  const answers = await Promise.all(garbage.map((bytes) => sendRaw(server.port, bytes, 300)));
  for (const { status, body } of answers) {
    // 505: another version of HTTP.
    if (status !== 505) expect(status).toBeLessThan(500);
    expect(body).not.toMatch(LEAKS);
  }
  expect(await ada.get(kept.id)).toEqual(kept);
  expect(await ada.search("half")).not.toContainEqual(expect.objectContaining({ content: "half" }));
});
