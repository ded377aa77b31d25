import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ObjectStoreError } from "../../src/objects/object-store-error.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { afterThisTest, temporaryFolder } from "../support/database.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";

/** A store with the given answers, and its objects below `p/`. */
function setUp(
  answer: (request: Request, times: number) => Response | Promise<Response>,
  timeoutMs = 2_000,
) {
  const requests: { url: URL; headers: Headers }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push({ url: new URL(request.url), headers: new Headers(request.headers) });
      return answer(request, requests.length);
    },
  });
  afterThisTest(() => void server.stop(true));
  const place = {
    bucket: "b",
    prefix: "p",
    endpoint: server.url.origin,
    region: "eu-central-1",
    accessKeyId: "key",
    secretAccessKey: "secret",
    sessionToken: "token",
  };
  return { requests, objects: createObjects(place, { timeoutMs }) };
}

const failed = (status: number, code: string) =>
  new Response(`<Error><Code>${code}</Code></Error>`, { status });

test("a call is signed for its region with the session token", async () => {
  const { objects, requests } = setUp(() => new Response());
  await objects.put("base/data/a b.lance", new Blob(["LANC"]));
  const [request] = requests;
  expect(request?.url.pathname).toBe("/b/p/base/data/a%20b.lance");
  expect(request?.headers.get("authorization")).toMatch(
    /^AWS4-HMAC-SHA256 Credential=key\/\d{8}\/eu-central-1\/s3\/aws4_request, SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
  );
  expect(request?.headers.get("x-amz-security-token")).toBe("token");
  expect(request?.headers.get("content-length")).toBe("4");
});

test("a call with a transient error is made three times", async () => {
  const busy = setUp((_, times) => (times < 3 ? failed(503, "SlowDown") : new Response("text")));
  expect(await busy.objects.text("a")).toBe("text");
  expect(busy.requests).toHaveLength(3);
  const broken = setUp(() => failed(500, "InternalError"));
  expect(await outcomeOf(broken.objects.text("a"))).toThrow("GET p/a: InternalError (500)");
  expect(broken.requests).toHaveLength(3);
});

test("a call with a permanent error is made once", async () => {
  const { objects, requests } = setUp(() => failed(403, "AccessDenied"));
  expect(await rejectionOf(objects.put("a", new Blob(["text"])))).toMatchObject({
    name: "ObjectStoreError",
    code: "AccessDenied",
    status: 403,
    isTransient: false,
  });
  expect(requests).toHaveLength(1);
});

test("a call that hangs is aborted and not repeated; a slow one continues", async () => {
  const hanging = setUp(() => new Promise<Response>(() => {}));
  const waited = await hanging.objects.text("a").catch((error: unknown) => error);
  expect(waited).toBeInstanceOf(ObjectStoreError);
  expect(waited).toMatchObject({ code: "NoAnswer", status: null });
  expect(hanging.requests).toHaveLength(1);

  const slow = setUp(
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(500);
            parts-- > 0 ? controller.enqueue(Buffer.from("part ")) : controller.close();
          },
        }),
      ),
  );
  let parts = 6;
  const path = join(temporaryFolder(), "slow");
  const text = "part ".repeat(6);
  const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
  await slow.objects.fetch("a", path, { bytes: text.length, sha256 });
  expect(readFileSync(path, "utf8")).toBe(text);
});

test("a body that trickles without an end is aborted, although something arrives all the time", async () => {
  const cancelled = Promise.withResolvers<void>();
  const { objects, requests } = setUp(
    () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(100);
            controller.enqueue(new Uint8Array(1));
          },
          cancel: () => cancelled.resolve(),
        }),
      ),
    400,
  );
  const path = join(temporaryFolder(), "trickling");
  const fetched = objects.fetch("a", path, { bytes: 1_000, sha256: "0" });
  expect(await outcomeOf(fetched)).toThrow("NoAnswer");
  await cancelled.promise;
  expect(requests).toHaveLength(1);
});

test("a body without a length, of content that nobody has recorded, is not read", async () => {
  const never = new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)) });
  const { objects } = setUp(() => new Response(never));
  const path = join(temporaryFolder(), "unknown");
  expect(await outcomeOf(objects.fetch("a", path, null))).toThrow("NoLength");
});

test("list reads all pages and decodes the names", async () => {
  const page = (key: string, next: string) =>
    `<ListBucketResult><IsTruncated>${next !== ""}</IsTruncated>
     <Contents><Key>p/${key}</Key><LastModified>x</LastModified><Size>7</Size></Contents>
     ${next && `<NextContinuationToken>${next}</NextContinuationToken>`}</ListBucketResult>`;
  const { objects, requests } = setUp((_, times) =>
    times === 1 ? new Response(page("a&amp;b/1", "a/b+c&amp;=")) : new Response(page("c/2", "")),
  );
  const listed = (await Array.fromAsync(objects.list(""))).flat();
  expect(listed).toEqual([
    { name: "a&b/1", bytes: 7 },
    { name: "c/2", bytes: 7 },
  ]);
  const queries = requests.map(({ url }) => url.searchParams);
  expect(queries.map((query) => query.get("prefix"))).toEqual(["p/", "p/"]);
  expect(queries.map((query) => query.get("continuation-token"))).toEqual([null, "a/b+c&="]);
});

test("removing a missing object is no error, even when the store answers one", async () => {
  const { objects } = setUp(() => failed(404, "NoSuchKey"));
  await objects.remove("a");
});
