import type { Hostile, requestsTo } from "./hostile-request.ts";
import { distinct, fill, KIB } from "./hostile-texts.ts";

type Requests = ReturnType<typeof requestsTo>;
type Named = [name: string, request: Uint8Array];

/** Requests with every kind of query and header, as large as they may be. */
export function hostileHeaders(requests: Requests): Hostile[] {
  return [...queries(requests), ...headerFields(requests)].map(([name, request]) => ({
    name: `header: ${name}`,
    request: () => request,
  }));
}

function queries({ send, bearer }: Requests): Named[] {
  const query = (text: string) => send(`GET /api/memories?${text}`, bearer);
  return [
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
  ];
}

function headerFields({ send, bearer, cookie, asForm }: Requests): Named[] {
  const headers = (fields: Record<string, string>, line = "GET /api/memories") =>
    send(line, { ...bearer, ...fields });
  return [
    [
      "If-Match",
      headers({ "if-match": fill('"x",', 60 * KIB) }, `PUT /api/memories/mem_${fill("0", 32)}`),
    ],
    ["Idempotency-Key", headers({ "idempotency-key": fill("x", 60 * KIB) }, "POST /api/memories")],
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
    ["Accept-Language", send("GET /sign-in", { "accept-language": fill("en;q=0.1,", 60 * KIB) })],
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
  ];
}
