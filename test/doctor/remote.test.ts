import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { examineServer } from "../../src/doctor/remote/examine-server.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import type { Scope } from "../../src/keys/scopes.ts";
import { ctxd } from "../support/command-line.ts";
import { startServer, type TestServer } from "../support/server.ts";

type Forward = (changes?: { headers?: Record<string, string | null> }) => Promise<Response>;
type Proxy = (request: Request, forward: Forward) => Response | Promise<Response>;

let server: TestServer;
let client: Awaited<ReturnType<TestServer["account"]>>;
let front: Bun.Server<undefined>;
let origin: string;
/** Starts a proxy in front of the server for one test. */
let proxy: Proxy;

beforeAll(async () => {
  front = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) =>
      proxy(request, ({ headers: changes = {} } = {}) => {
        const headers = new Headers(request.headers);
        for (const [name, value] of Object.entries(changes)) {
          if (value === null) headers.delete(name);
          else headers.set(name, value);
        }
        const { pathname, search } = new URL(request.url);
        const url = `http://127.0.0.1:${server.port}${pathname}${search}`;
        return fetch(url, {
          ...request,
          method: request.method,
          body: request.body,
          headers,
          redirect: "manual",
        });
      }),
  });
  origin = `http://localhost:${front.port}`;
  server = await startServer({ config: { publicUrl: origin } });
  client = await server.account();
});
beforeEach(() => {
  proxy = (_, forward) => forward();
});
afterAll(async () => {
  await front.stop(true);
  await server.close();
});

/** All findings, a lookup by their check, and the findings that are not `ok`. */
async function examine(url = origin, key: string | null = null, clock = Date.now) {
  const findings = await Array.fromAsync(examineServer({ url: new URL(url), key, clock }));
  const bad = findings.filter(({ state }) => state === "problem").map(({ check }) => check);
  const found = (check: string) => findings.find((each) => each.check === check)?.message ?? "";
  return { findings, bad, found };
}

const html = (status = 200) =>
  new Response("<!doctype html><title>Hello</title>", {
    status,
    headers: { "content-type": "text/html" },
  });
const pathOf = (request: Request) => new URL(request.url).pathname;

test("a server behind a proxy that passes everything on has no problems", async () => {
  const { bad, found, findings } = await examine(origin, client.key);
  expect(bad).toEqual([]);
  expect(found("key")).toBe("agents can read and write with it");
  for (const name of ["Cursor", "VS Code"]) expect(found(name)).toContain("opens the sign-in page");
  for (const name of ["Claude", "ChatGPT"]) expect(found(name)).toContain("runs on the internet");
  for (const { message } of findings) expect(message).toMatch(/^[^\n]{5,300}$/);
});

test("an unknown key is a problem", async () => {
  expect((await examine(origin, generateKey())).found("key")).toMatch(/unknown, revoked/);
});

test.each<[Scope[], string]>([
  [["memories:read"], "only read"],
  [["memories:add"], "only save"],
  [["memories:read", "memories:add"], "only read and save"],
  [["memories:write"], "only save, change and delete"],
  [["memories:read", "memories:write"], "read and write"],
])("a key with %j is recognized", async (scopes, what) => {
  const { key } = await server.client(client.accountId, scopes);
  expect((await examine(origin, key)).found("key")).toBe(`agents can ${what} with it`);
});

describe("problems of a proxy are recognized:", () => {
  test.each<[string, Proxy, string, RegExp]>([
    [
      "another site",
      () => html(),
      "server",
      /another program than ctxd answers \(200, text\/html\)/,
    ],
    ["a proxy with nothing behind it", () => html(502), "server", /no server behind it \(502\)/],
    ["a sign-in of the proxy", () => html(401), "server", /its own sign-in/],
    [
      "a redirect",
      () => Response.redirect("https://www.example.com/"),
      "server",
      /redirects to https:\/\/www\.example\.com/,
    ],
    [
      "plain HTTP as the server sees it",
      (_, forward) => forward({ headers: { host: "memory.example.com" } }),
      "server",
      /X-Forwarded-Proto: https/,
    ],
    [
      "/.well-known/ is reserved for certificates",
      async (request, forward) =>
        pathOf(request).startsWith("/.well-known/") ? html(404) : await forward(),
      "/.well-known/oauth-authorization-server",
      /not answered by ctxd \(404, text\/html\).*all paths that begin with/,
    ],
    [
      "a web page for all unknown paths",
      async (_request, forward) => {
        const answer = await forward();
        return answer.status === 404 ? html() : answer;
      },
      "/.well-known/openid-configuration",
      /not answered by ctxd \(200, text\/html\)/,
    ],
    [
      "the header Authorization is removed",
      (_, forward) => forward({ headers: { authorization: null } }),
      "authorization",
      /does not reach the server/,
    ],
    [
      "/mcp is not passed on",
      async (request, forward) => (pathOf(request) === "/mcp" ? html(404) : await forward()),
      "challenge",
      /404, text\/html instead of 401/,
    ],
    [
      "paths that clients guess are not passed on",
      async (request, forward) => (pathOf(request) === "/token" ? html(404) : await forward()),
      "endpoints",
      /^\/token is not answered by ctxd/,
    ],
    [
      "a page instead of registration",
      async (request, forward) =>
        pathOf(request).endsWith("/register") ? html(403) : await forward(),
      "Cursor",
      /^can't register \(403, text\/html\)/,
    ],
  ])("%s", async (_, fault, check, message) => {
    proxy = fault;
    const { bad, found } = await examine();
    expect(bad).toContain(check);
    expect(found(check)).toMatch(message);
  });

  test("the header WWW-Authenticate is removed", async () => {
    proxy = async (_, forward) => {
      const answer = await forward();
      const headers = new Headers(answer.headers);
      headers.delete("www-authenticate");
      return new Response(answer.body, { status: answer.status, headers });
    };
    expect((await examine()).found("challenge")).toContain(
      "WWW-Authenticate of the answer 401 does not arrive",
    );
  });
});

test("a server with another public address is a problem that names the setting", async () => {
  const other = origin.replace("localhost", "127.0.0.1");
  const { bad, found } = await examine(other);
  const wanted = `the server's public address is ${origin}: set CTXD_PUBLIC_URL=${other} there, or use that address.`;
  expect(found("/.well-known/oauth-protected-resource/mcp")).toBe(wanted);
  expect(found("/.well-known/oauth-authorization-server")).toBe(wanted);
  expect(found("challenge")).toBe(wanted);
  expect(found("Cursor")).toStartWith(`is sent away from ${other} to sign in`);
  expect(bad).toEqual(expect.arrayContaining(["Claude", "ChatGPT", "Cursor", "VS Code"]));
});

test("a server that stops answering, and one that does not exist", async () => {
  const health = { status: "ok", version: "1.0.0", checks: {} };
  const ending = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      if (pathOf(request) !== "/api/health") void ending.stop(true);
      return Response.json(health);
    },
  });
  const url = `http://127.0.0.1:${ending.port}`;
  const { findings } = await examine(url);
  expect(findings.at(-1)?.message).toMatch(/^the server stopped answering \(\w+\)/);
  const { found } = await examine(url);
  expect(found("connection")).toMatch(
    /^nothing listens at 127\.0\.0\.1:\d+: .*\(ECONNREFUSED\)\.$/,
  );
});

test("no key is sent unencrypted, and control characters of a server are replaced", async () => {
  const seen: string[] = [];
  await using plain = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ headers }) {
      seen.push(headers.get("authorization") ?? "");
      return Response.json({ status: "ok", version: "1\u001b]0;mine\u0007", checks: {} });
    },
  });
  // An address of this machine that is not a loopback name.
  const { stdout } = await ctxd(["doctor", "--url", `http://0.0.0.0:${plain.port}`, "--key"], {
    input: `${client.key}\n`,
  });
  expect(stdout).toContain("sends keys unencrypted");
  expect(stdout).toContain("ctxd 1\uFFFD]0;mine\uFFFD is healthy");
  expect(seen.length).toBeGreaterThan(5);
  expect(seen).not.toContain(`Bearer ${client.key}`);
});

test("clocks that differ are a warning", async () => {
  const { found } = await examine(origin, null, () => Date.now() + 600_000);
  expect(found("clock")).toBe("10 minutes behind this machine's: set both by NTP.");
});

test("a server without HTTPS is recognized", async () => {
  const { found } = await examine(origin.replace("http:", "https:"));
  expect(found("connection")).toMatch(/does not speak HTTPS: is it http:\/\//);
});

describe.skipIf(Bun.which("openssl") === null)("certificates:", () => {
  let secure: Bun.Server<undefined>;
  let certificate: string;

  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
    certificate = join(folder, "cert.pem");
    const key = join(folder, "key.pem");
    const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    await Bun.$`openssl req -x509 ${curve} ${name} -days 5 -keyout ${key} -out ${certificate}`.quiet();
    const tls = { cert: await Bun.file(certificate).text(), key: await Bun.file(key).text() };
    rmSync(key);
    secure = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch: () => html() });
  });
  afterAll(async () => {
    await secure.stop(true);
    rmSync(dirname(certificate), { recursive: true });
  });

  test("one of an unknown authority", async () => {
    const { found } = await examine(`https://localhost:${secure.port}`);
    expect(found("connection")).toMatch(/self-signed, which agents refuse/);
  });

  test("one that expires soon, and one for another name", async () => {
    const examine = (host: string) =>
      ctxd(["doctor", "--url", `https://${host}:${secure.port}`], {
        env: { NODE_EXTRA_CA_CERTS: certificate },
      });
    expect((await examine("localhost")).stdout).toMatch(
      /^warning {2}connection: works, with a certificate that is valid for [45] more days: renew it\.$/m,
    );
    expect((await examine("127.0.0.1")).stdout).toMatch(/for another name: get one for 127/);
  });
});

test("the command prints the findings, and reads a key from standard input", async () => {
  const { stdout, stderr, exitCode } = await ctxd(["doctor", "--url", `${origin}/mcp`, "--key"], {
    input: `${client.key}\n`,
  });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const line of stdout.trimEnd().split("\n")) {
    expect(line).toMatch(/^(ok {7}|warning {2})[\w ./-]+: .+$/);
  }
  expect(stdout).toContain("key: agents can read and write with it");
  expect(await ctxd(["doctor", "--key"])).toMatchObject({ exitCode: 2, stdout: "" });
});
