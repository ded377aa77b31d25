import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ObjectSettings } from "../../src/config/shared-settings.ts";
import { checkObjectStore } from "../../src/objects/check.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { afterThisTest } from "../support/database.ts";
import { type ObjectStore, startObjectStore } from "../support/object-store.ts";

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.end());

const NOW = Date.parse("2026-01-01T00:10:00Z");
const check = (settings: Partial<ObjectSettings> = {}) =>
  checkObjectStore({ ...store.place("p"), ...settings }, { clock: () => NOW, timeoutMs: 2_000 });

/** Starts a proxy before the store that answers some requests itself. */
function startProxy(answer: (request: Request, url: URL) => Response | undefined): string {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const url = new URL(request.url);
      const own = answer(request, url);
      if (own) return own;
      const { method, headers } = request;
      headers.set("host", new URL(store.endpoint).host);
      const body = method === "PUT" ? await request.blob() : null;
      return fetch(`${store.endpoint}${url.pathname}${url.search}`, { method, headers, body });
    },
  });
  afterThisTest(() => void server.stop(true));
  return server.url.origin;
}

/** An error of Amazon's documentation. */
const failure = (status: number, code: string, more = "", headers = {}) =>
  new Response(`<?xml version="1.0"?><Error><Code>${code}</Code>${more}</Error>`, {
    status,
    headers,
  });

test("a usable store is accepted, and the check leaves no object behind", async () => {
  expect(await check()).toEqual({
    state: "ok",
    message: `ctxd at ${store.endpoint} (an object was written, read and removed)`,
  });
  const remaining = await Array.fromAsync(createObjects(store.place("")).list(""));
  expect(remaining.flat()).toEqual([]);
});

test("an unknown access key and a missing bucket are refused", async () => {
  expect(await check({ accessKeyId: "other" })).toEqual({
    state: "wrong",
    message: `The object store does not know AWS_ACCESS_KEY_ID (${store.endpoint}).`,
  });
  expect(await check({ bucket: "other" })).toEqual({
    state: "wrong",
    message: `The bucket other of CTXD_OBJECTS does not exist at ${store.endpoint}.`,
  });
});

test.each([
  [
    () => failure(403, "SignatureDoesNotMatch"),
    "AWS_SECRET_ACCESS_KEY does not belong to AWS_ACCESS_KEY_ID.",
  ],
  [
    () => failure(400, "ExpiredToken"),
    "AWS_SESSION_TOKEN has expired or does not belong to AWS_ACCESS_KEY_ID.",
  ],
  [
    () => failure(400, "AuthorizationHeaderMalformed", "<Region>eu-west-1</Region>"),
    "AWS_REGION is us-east-1, but the bucket ctxd is in eu-west-1.",
  ],
  [
    () => failure(301, "PermanentRedirect", "", { "x-amz-bucket-region": "eu-central-1" }),
    "AWS_REGION is us-east-1, but the bucket ctxd is in eu-central-1.",
  ],
  [
    () => failure(403, "RequestTimeTooSkewed", "", { date: "Thu, 01 Jan 2026 00:40:00 GMT" }),
    "This machine's clock is 30 minutes behind that of the object store: set it, preferably by NTP.",
  ],
  [
    () => failure(403, "AccessDenied"),
    "AWS_ACCESS_KEY_ID may not do s3:ListBucket in the bucket ctxd of CTXD_OBJECTS.",
  ],
])(
  "an error of the store is explained in one sentence that names the setting (%#)",
  async (answer, message) => {
    const endpoint = startProxy(answer);
    expect(await check({ endpoint })).toEqual({ state: "wrong", message });
  },
);

test.each([
  ["GET", "s3:GetObject"],
  ["PUT", "s3:PutObject"],
  ["DELETE", "s3:DeleteObject"],
])("a missing permission for %s is found", async (method, needs) => {
  const endpoint = startProxy((request, { pathname }) =>
    request.method === method && pathname.endsWith("/trial")
      ? failure(403, "AccessDenied")
      : undefined,
  );
  expect(await check({ endpoint })).toEqual({
    state: "wrong",
    message: `AWS_ACCESS_KEY_ID may not do ${needs} in the bucket ctxd of CTXD_OBJECTS.`,
  });
});

test("a bucket with versioning is refused, with the command that suspends it", async () => {
  const versioning = (status: string) =>
    startProxy((_, { searchParams }) => {
      const answer = `<VersioningConfiguration>${status}</VersioningConfiguration>`;
      return searchParams.has("versioning") ? new Response(answer) : undefined;
    });
  const refused = await check({ endpoint: versioning("<Status>Enabled</Status>") });
  expect(refused.state).toBe("wrong");
  expect(refused.message).toContain("put-bucket-versioning --bucket ctxd");
  for (const status of ["", "<Status>Suspended</Status>"]) {
    expect((await check({ endpoint: versioning(status) })).state).toBe("ok");
  }
});

test("a store that does not answer is away; another server than a store is wrong", async () => {
  const nowhere = "http://127.0.0.1:1";
  expect(await check({ endpoint: nowhere })).toEqual({
    state: "away",
    message: `No object store answers at ${nowhere} (ECONNREFUSED).`,
  });
  const broken = startProxy(() => new Response("<h1>Bad Gateway</h1>", { status: 502 }));
  expect((await check({ endpoint: broken })).state).toBe("away");
  const page = startProxy(() => new Response("<h1>Not found</h1>", { status: 404 }));
  expect(await check({ endpoint: page })).toEqual({
    state: "wrong",
    message: `AWS_ENDPOINT_URL is not the address of an object store: ${page} answers 404.`,
  });
});

test("a store that answers success for a removal that it did not make is refused", async () => {
  const endpoint = startProxy(({ method }) =>
    method === "DELETE" ? new Response(null, { status: 204 }) : undefined,
  );
  expect((await check({ endpoint, prefix: "kept" })).message).toContain("is still there");
});
