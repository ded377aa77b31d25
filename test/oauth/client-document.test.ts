import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  createDocumentFetcher,
  type Fetched,
  isPublicAddress,
} from "../../src/oauth/clients/document-fetcher.ts";
import { outcomeOf } from "../support/outcome.ts";
import { REPLICAS } from "../support/replicas.ts";
import { makeCertificate } from "./support/certificate.ts";
import { answerOf, startOAuthServer, tokensOf } from "./support/oauth-server.ts";

/** Each replica caches documents separately. */
const EACH_FOR_ITSELF = REPLICAS > 1;

const json = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ x: 1 }, { status, headers });

/** Answers of the documents' web server, by path. */
const answers: Record<string, () => Response | Promise<Response>> = {
  "/ok": () => Response.json({ x: 1 }, { headers: { "cache-control": "public, max-age=600" } }),
  "/plain": () => new Response("{}", { headers: { "content-type": "text/plain" } }),
  "/broken": () => new Response("{", { headers: { "content-type": "application/json" } }),
  "/large": () => Response.json({ x: "x".repeat(20_000) }),
  "/redirect": () => json(302, { location: "https://app.example.com/ok" }),
  "/inside": () => json(307, { location: "http://127.0.0.1/" }),
  "/missing": () => json(404),
  "/created": () => json(201),
  "/slow": async () => {
    await Bun.sleep(20_000);
    return Response.json({});
  },
  "/drip": () =>
    new Response(
      new ReadableStream({
        async pull(controller) {
          await Bun.sleep(200);
          controller.enqueue(new TextEncoder().encode(" "));
        },
      }),
      { headers: { "content-type": "application/json" } },
    ),
};

/** The fetcher is the same for replicas. */
const hasOwnFetcher = !EACH_FOR_ITSELF && Bun.which("openssl") !== null;

describe.if(hasOwnFetcher)("the fetcher of documents", () => {
  const resolved: string[] = [];
  let cert: string;
  let web: ReturnType<typeof Bun.serve>;
  beforeAll(async () => {
    const pair = await makeCertificate("app.example.com");
    cert = pair.cert;
    web = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      idleTimeout: 60,
      tls: pair,
      fetch: (request) =>
        answers[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 }),
    });
  });
  afterAll(() => web.stop(true));

  /** Resolves every host to this computer, and treats its address as public. */
  const fetchDocument = (url: string): Promise<Fetched> =>
    createDocumentFetcher({
      resolve: async (host) => {
        resolved.push(host);
        return ["127.0.0.1"];
      },
      isPublic: (address) => address === "127.0.0.1" || isPublicAddress(address),
      port: web.port ?? 0,
      ca: cert,
    })(new URL(url));

  test("reads JSON over HTTPS, with its time to live", async () => {
    expect(await fetchDocument("https://app.example.com/ok")).toEqual({
      json: { x: 1 },
      maxAge: 600_000,
    });
    expect(resolved).toEqual(["app.example.com"]);
  });

  test.each(["plain", "broken", "large", "redirect", "inside", "missing", "created", "none"])(
    "refuses an answer that is not a document: %s",
    async (path) => {
      expect(await outcomeOf(fetchDocument(`https://app.example.com/${path}`))).toThrow();
    },
  );

  test("requires a certificate for the host", async () => {
    expect(await outcomeOf(fetchDocument("https://other.example.com/ok"))).toThrow(/altnames/i);
  });

  test("aborts after some seconds, whether it receives nothing or single bytes", async () => {
    const started = performance.now();
    const fetched = ["slow", "drip"].map((path) =>
      fetchDocument(`https://app.example.com/${path}`),
    );
    for (const each of fetched) expect(await outcomeOf(each)).toThrow();
    expect(performance.now() - started).toBeLessThan(9_000);
  });

  test.each([
    "http://app.example.com/ok",
    "https://app.example.com:8443/ok",
    "https://user@app.example.com/ok",
    "https://10.0.0.1/ok",
    "https://[::1]/ok",
    "https://[::ffff:127.0.0.1]/ok",
    "https://169.254.169.254/latest/meta-data",
    "https://2130706434/ok",
  ])("does not even connect to %s", async (url) => {
    expect(await outcomeOf(fetchDocument(url))).toThrow(/not (plain HTTPS|on the public)/);
  });

  test.each([[["10.0.0.1"]], [["1.1.1.1", "127.0.0.1"]], [["::ffff:10.0.0.1"]], [[]]])(
    "refuses a host with the addresses %j",
    async (addresses) => {
      const fetching = createDocumentFetcher({
        resolve: async () => addresses,
        isPublic: isPublicAddress,
        port: 443,
      });
      expect(await outcomeOf(fetching(new URL("https://app.example.com/ok")))).toThrow(
        "not on the public Internet",
      );
    },
  );

  test("without a test resolver reaches this computer under no name", async () => {
    const fetching = createDocumentFetcher();
    expect(await outcomeOf(fetching(new URL("https://localhost/ok")))).toThrow(
      "not on the public Internet",
    );
  });
});

describe("a client of a metadata document", async () => {
  /** The documents on the web by address, and how often the server has requested them. */
  const documents = new Map<string, unknown>();
  const asked: string[] = [];
  const server = await startOAuthServer({
    fetchDocument: async (url) => {
      asked.push(url.href);
      if (url.host.endsWith("offline.example.com")) {
        throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
      }
      if (!documents.has(url.href)) throw new Error("404");
      return { json: documents.get(url.href), maxAge: null };
    },
  });
  afterAll(server.close);

  const publish = (id: string, changes: Record<string, unknown> = {}) =>
    documents.set(id, {
      client_id: id,
      client_name: "Example",
      redirect_uris: ["https://app.example.com/callback"],
      token_endpoint_auth_method: "none",
      ...changes,
    });

  test.each([
    [
      "Claude",
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      { redirect_uris: ["https://claude.ai/api/mcp/auth_callback"] },
      "https://claude.ai/api/mcp/auth_callback",
    ],
    [
      "Claude Code",
      "https://claude.ai/oauth/claude-code-client-metadata",
      { redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"] },
      "http://localhost:54545/callback",
    ],
    [
      "VS Code",
      "https://vscode.dev/oauth/client-metadata.json",
      {
        redirect_uris: ["http://127.0.0.1:33418/", "https://vscode.dev/redirect"],
        grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
      },
      "http://127.0.0.1:50001/",
    ],
    [
      "ChatGPT",
      "https://chatgpt.com/oauth/x/client.json",
      {
        redirect_uris: ["https://chatgpt.com/connector/oauth/x"],
        token_endpoint_auth_method: "private_key_jwt",
        token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
      },
      "https://chatgpt.com/connector/oauth/x",
    ],
  ])("as %s has it gets tokens without registering", async (_, id, document, redirectUri) => {
    publish(id, document);
    const { person } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(id, { redirect_uri: redirectUri }));
    expect(page.text).toContain(new URL(id).host);
    const { code = null } = answerOf(await person.submit(page, { decision: "allow" }));
    const change = { redirect_uri: redirectUri };
    const tokens = tokensOf(await server.redeem(id, code, change));
    expect(await server.use(tokens.access_token)).toBe(200);
    expect((await server.renew(id, tokens.refresh_token)).status).toBe(200);
    // Each replica requests the document.
    const times = asked.filter((url) => url === id).length;
    expect(times >= 1 && times <= REPLICAS).toBe(true);
  });

  test.skipIf(EACH_FOR_ITSELF)("is requested again after five minutes", async () => {
    const id = "https://app.example.com/again";
    publish(id);
    const { person } = await server.signedIn();
    const times = () => asked.filter((url) => url === id).length;
    await person.visit(server.authorizeUrl(id));
    server.clock.advance(5 * 60_000 - 1);
    await person.visit(server.authorizeUrl(id));
    expect(times()).toBe(1);
    server.clock.advance(1);
    await person.visit(server.authorizeUrl(id));
    expect(times()).toBe(2);
  });

  test("is not requested for a visitor who is not signed in", async () => {
    const id = "https://app.example.com/stranger";
    publish(id);
    const response = await fetch(server.authorizeUrl(id), { redirect: "manual" });
    expect(response.headers.get("location")).toStartWith("/sign-in?");
    expect(asked).not.toContain(id);
  });

  test.each([
    ["names another client", { client_id: "https://app.example.com/other" }],
    ["has a secret", { client_secret: "x" }],
    ["wants a shared secret", { token_endpoint_auth_method: "client_secret_post" }],
    ["wants a key", { token_endpoint_auth_method: "private_key_jwt" }],
    ["has no redirect URI", { redirect_uris: [] }],
    ["has a script as redirect URI", { redirect_uris: ["javascript:alert(1)"] }],
  ])("is refused when its document %s", async (problem, changes) => {
    const id = `https://app.example.com/${problem.replaceAll(" ", "-")}`;
    publish(id, changes);
    const { person } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(id));
    expect({ status: page.status, location: page.location }).toEqual({
      status: 400,
      location: null,
    });
    expect(page.forms).toEqual([]);
  });

  test.each([
    "https://app.example.com",
    "https://app.example.com/",
    "https://app.example.com/a/../b",
    "https://app.example.com/x#y",
    "https://APP.example.com/x",
    `https://app.example.com/${"x".repeat(1_100)}`,
    "https://app.example.com/missing",
  ])("is refused when its address is %.50s", async (id) => {
    if (!id.endsWith("missing")) publish(id);
    const { person } = await server.signedIn();
    const page = await person.visit(server.authorizeUrl(id));
    expect(page.status).toBe(400);
    expect(page.text).toContain("metadata document");
  });

  test.skipIf(EACH_FOR_ITSELF)(
    "that is unreachable makes the metadata ask apps to register instead only with several hosts",
    async () => {
      const { person } = await server.signedIn();
      const isOffered = async () => {
        const url = `${server.origin}/.well-known/oauth-authorization-server`;
        const metadata = Object(await (await fetch(url)).json());
        return metadata.client_id_metadata_document_supported;
      };
      await person.visit(server.authorizeUrl("https://app.example.com/missing"));
      expect(await isOffered()).toBe(true);
      const page = await person.visit(server.authorizeUrl("https://offline.example.com/app"));
      expect(page.status).toBe(400);
      expect(page.text).toContain("try again later");
      // Other documents were fetched today, so it may be this host's fault, or somebody's choice.
      expect(await isOffered()).toBe(true);
      for (const name of ["second", "third"]) {
        await person.visit(server.authorizeUrl(`https://${name}.offline.example.com/app`));
      }
      expect(await isOffered()).toBe(false);
      server.clock.advance(10 * 60_000);
      expect(await isOffered()).toBe(true);
      // Nothing has been fetched for a day: the first failure shows that there is no Internet access.
      server.clock.advance(24 * 3_600_000);
      const { person: later } = await server.signedIn();
      const last = await later.visit(server.authorizeUrl("https://offline.example.com/app"));
      expect(last.text).toContain("connect the app again now, and it registers itself instead");
      expect(await isOffered()).toBe(false);
      server.clock.advance(10 * 60_000);
    },
  );

  test("receives answers only at the redirect URIs of its document", async () => {
    const id = "https://app.example.com/elsewhere";
    publish(id);
    const { person } = await server.signedIn();
    const redirectUri = "https://evil.example.com/callback";
    const page = await person.visit(server.authorizeUrl(id, { redirect_uri: redirectUri }));
    expect({ status: page.status, location: page.location }).toEqual({
      status: 400,
      location: null,
    });
  });
});
