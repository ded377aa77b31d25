import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  fetchCatalogueModel,
  folderOf,
  isFetched,
} from "../../src/embedding/catalogue-download.ts";
import { builtInModel, textFile } from "../../src/embedding/manifest.ts";
import type { ModelDescription } from "../../src/embedding/model-folder.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";
import { createRandom } from "../support/random.ts";
import { until } from "../support/until.ts";

const random = createRandom(3);
const bytesOf = (size: number) => Uint8Array.from({ length: size }, () => random.below(256));
const GRAPH = bytesOf(300_000);
const TOKENIZER = bytesOf(20_000);
const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

const { dimension, cosines, ...builtIn } = builtInModel;
const description: ModelDescription = {
  ...builtIn,
  id: "trial",
  files: [
    {
      name: "model.onnx",
      source: { path: "onnx/model.onnx" },
      bytes: GRAPH.length,
      sha256: sha256(GRAPH),
    },
    {
      name: "tokenizer.json",
      source: { path: "tokenizer.json" },
      bytes: TOKENIZER.length,
      sha256: sha256(TOKENIZER),
    },
    textFile("config.json", {}),
  ],
};

interface Asked {
  path: string;
  range: string | null;
}

/** A server of the model's files. */
function serve({
  knowsRanges = true,
  graph = GRAPH,
  status = 200,
}: {
  knowsRanges?: boolean;
  graph?: Uint8Array;
  status?: number;
} = {}) {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    fetch(request) {
      const path = new URL(request.url).pathname;
      const range = request.headers.get("range");
      asked.push({ path, range });
      if (status !== 200) return new Response("no", { status });
      const content = path.endsWith("onnx") ? graph : TOKENIZER;
      const start = knowsRanges ? Number(/^bytes=(\d+)-$/.exec(range ?? "")?.[1] ?? 0) : 0;
      const rest = content.slice(start);
      const headers = { "content-range": `bytes ${start}-${content.length - 1}/${content.length}` };
      return start > 0 ? new Response(rest, { status: 206, headers }) : new Response(rest);
    },
  });
  return {
    address: `${server.url.origin}/trial`,
    asked,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** A server that interrupts each answer after the client has written `size` bytes to its file. */
function serveInParts(size: number, part: string) {
  const asked: Asked[] = [];
  const server = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      async data(socket, bytes) {
        const request = bytes.toString();
        const range = /^range: (.*)\r$/im.exec(request)?.[1] ?? null;
        asked.push({ path: request.split(" ")[1] ?? "", range });
        const start = Number(/\d+/.exec(range ?? "0")?.[0]);
        const end = GRAPH.length;
        const head = [
          start > 0 ? "HTTP/1.1 206 Partial Content" : "HTTP/1.1 200 OK",
          `content-length: ${end - start}`,
          `content-range: bytes ${start}-${end - 1}/${end}`,
        ];
        socket.write(`${head.join("\r\n")}\r\n\r\n`);
        socket.write(GRAPH.slice(start, start + size));
        // An earlier end could discard bytes that the client has not read.
        await until(
          "the part is written",
          () => existsSync(part) && statSync(part).size >= start + size,
        );
        socket.end();
      },
    },
  });
  return {
    address: `http://127.0.0.1:${server.port}/trial`,
    asked,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

const fetchable = (address: string) => ({ address, description });

describe("fetchCatalogueModel", () => {
  test("downloads a model once, into the folder that it is loaded from", async () => {
    using server = serve();
    const cacheDir = temporaryFolder();
    expect(await isFetched(description, cacheDir)).toBe(false);
    const seen: number[] = [];
    const onProgress = (count: number, total: number) => seen.push(count / total);
    const folder = await fetchCatalogueModel(fetchable(server.address), cacheDir, { onProgress });
    expect(folder).toBe(folderOf(description, cacheDir));
    expect(new Uint8Array(readFileSync(join(folder, "model.onnx")))).toEqual(GRAPH);
    expect(statSync(join(folder, "model.onnx")).mode & 0o777).toBe(0o600);
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
    expect(await isFetched(description, cacheDir)).toBe(true);
    await fetchCatalogueModel(fetchable(server.address), cacheDir);
    expect(server.asked.map(({ path }) => path)).toEqual([
      "/trial/onnx/model.onnx",
      "/trial/tokenizer.json",
    ]);
  });

  test("resumes an interrupted download, by itself and at the next call", async () => {
    const cacheDir = temporaryFolder();
    const folder = folderOf(description, cacheDir);
    {
      using server = serveInParts(5_000, join(folder, "fetching-model.onnx"));
      const fetching = fetchCatalogueModel(fetchable(server.address), cacheDir, { pause: 1 });
      expect(await outcomeOf(fetching)).toThrow(
        /can't be downloaded .* try again to resume the download/,
      );
      const starts = server.asked.map(({ range }) => Number(/\d+/.exec(range ?? "0")?.[0]));
      expect(starts).toEqual([0, 5_000, 10_000, 15_000]);
    }
    expect(await isFetched(description, cacheDir)).toBe(false);
    using server = serve();
    await fetchCatalogueModel(fetchable(server.address), cacheDir, { pause: 1 });
    expect(server.asked[0]?.range).toBe("bytes=20000-");
    expect(new Uint8Array(readFileSync(join(folder, "model.onnx")))).toEqual(GRAPH);
    expect(readdirSync(folder).sort()).toEqual(["model.onnx", "tokenizer.json"]);
  });

  test("starts from the beginning when the server supports no ranges", async () => {
    const cacheDir = temporaryFolder();
    const folder = folderOf(description, cacheDir);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "fetching-model.onnx"), GRAPH.slice(0, 1_000));
    using server = serve({ knowsRanges: false });
    await fetchCatalogueModel(fetchable(server.address), cacheDir);
    expect(new Uint8Array(readFileSync(join(folder, "model.onnx")))).toEqual(GRAPH);
  });

  test("refuses and removes a file with unexpected content", async () => {
    const other = GRAPH.slice();
    other[100] = (other[100] ?? 0) ^ 1;
    using server = serve({ graph: other });
    const cacheDir = temporaryFolder();
    const fetching = fetchCatalogueModel(fetchable(server.address), cacheDir, { pause: 1 });
    expect(await outcomeOf(fetching)).toThrow(
      `is not the expected model (its SHA-256 is ${sha256(other)}, not`,
    );
    expect(readdirSync(folderOf(description, cacheDir))).toEqual([]);
    // A partial file with unexpected content is refused too.
    const folder = folderOf(description, cacheDir);
    writeFileSync(join(folder, "fetching-model.onnx"), other.slice(0, 1_000));
    using right = serve();
    expect(await outcomeOf(fetchCatalogueModel(fetchable(right.address), cacheDir))).toThrow(
      "SHA-256",
    );
    await fetchCatalogueModel(fetchable(right.address), cacheDir);
    expect(await isFetched(description, cacheDir)).toBe(true);
  });

  test("stops a download that is larger than the file", async () => {
    using server = serve({ graph: bytesOf(GRAPH.length + 1) });
    const fetching = fetchCatalogueModel(fetchable(server.address), temporaryFolder(), {
      pause: 1,
    });
    expect(await outcomeOf(fetching)).toThrow("the answer is larger than the file");
  });

  test("does not repeat a request that was answered 404", async () => {
    using server = serve({ status: 404 });
    const fetching = fetchCatalogueModel(fetchable(server.address), temporaryFolder(), {
      pause: 1,
    });
    expect(await outcomeOf(fetching)).toThrow("the answer is 404");
    expect(server.asked).toHaveLength(1);
  });

  test("rejects with the reason of its signal", async () => {
    using server = serve();
    const stopped = new AbortController();
    const cacheDir = temporaryFolder();
    const reason = new Error("enough");
    stopped.abort(reason);
    const options = { signal: stopped.signal, pause: 1 };
    expect(
      await rejectionOf(fetchCatalogueModel(fetchable(server.address), cacheDir, options)),
    ).toBe(reason);
  });
});

test("files are recognized by their content, not by their names", async () => {
  const [cacheDir, stick] = [temporaryFolder(), temporaryFolder()];
  mkdirSync(join(stick, "below"));
  writeFileSync(join(stick, "weights"), GRAPH);
  writeFileSync(join(stick, "below", "words"), TOKENIZER);
  writeFileSync(join(stick, "another"), bytesOf(GRAPH.length));
  const nowhere = fetchable("http://127.0.0.1:1");
  await fetchCatalogueModel(nowhere, cacheDir, { from: [stick] });
  expect(await isFetched(description, cacheDir)).toBe(true);
  const only = [join(stick, "weights"), join(stick, "another")];
  expect(await outcomeOf(fetchCatalogueModel(nowhere, temporaryFolder(), { from: only }))).toThrow(
    `None of the files is tokenizer.json (20000 bytes, SHA-256 ${sha256(TOKENIZER)}): download it from http://127.0.0.1:1/`,
  );
  const missing = [join(stick, "nothing")];
  expect(
    await outcomeOf(fetchCatalogueModel(nowhere, temporaryFolder(), { from: missing })),
  ).toThrow("missing");
});
