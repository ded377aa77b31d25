import { expect, test } from "bun:test";
import type { Config } from "../../src/config.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const publicUrl = "https://memory.example.com";
const tls = { cert: "cert.pem", key: "key.pem" };
const https = { host: "memory.example.com", "x-forwarded-proto": "https" };
const LINES = ["GET /api/memories", "GET /sign-in", "GET /nothing", "POST /mcp", "GET /docs"];

type Settings = Partial<Pick<Config, "tls" | "trustProxy" | "publicUrl" | "allowHttp">>;

/** What answers say of HTTPS: all the same. */
async function policies(config: Settings, headers: Record<string, string>) {
  await using server = await startServer({ config });
  const said = await Promise.all(
    LINES.map(async (line) => (await sendRaw(server.port, rawRequest(line, headers))).headers),
  );
  return [...new Set(said.map((each) => each.get("strict-transport-security")))];
}

test("a browser that was here by HTTPS is not led to plain HTTP", async () => {
  const year = ["max-age=31536000"];
  expect(await policies({ tls, publicUrl }, { host: https.host })).toEqual(year);
  expect(await policies({ trustProxy: true, publicUrl }, https)).toEqual(year);
  // A proxy may ask by another name.
  expect(await policies({ trustProxy: true, publicUrl }, { ...https, host: "ctxd" })).toEqual(year);
});

test("nobody gets the other servers of this machine refused", async () => {
  for (const host of ["localhost", "127.0.0.1", "[::1]", "a.localhost:7733"]) {
    expect(await policies({ tls }, { host })).toEqual([null]);
  }
  const local = "https://localhost:7733";
  expect(await policies({ trustProxy: true, publicUrl: local }, https)).toEqual([null]);
});

test("plain HTTP does not say it, nor who only claims to have come by HTTPS", async () => {
  expect(await policies({ publicUrl, allowHttp: true }, https)).toEqual([null]);
  expect(await policies({ publicUrl }, https)).toEqual([null]);
  const plain = { ...https, "x-forwarded-proto": "http" };
  expect(await policies({ publicUrl, trustProxy: true }, plain)).toEqual([null]);
  expect(await policies({ trustProxy: true }, https)).toEqual([null]);
});
