import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fetchFastembedModel } from "../../src/embedding/fastembed-download.ts";
import { temporaryFolder } from "../support/database.ts";
import { startHostileServer } from "./support/hostile-server.ts";
import { rawArchive } from "./support/raw-tar.ts";

const NAME = "fast-all-MiniLM-L6-v2";
const MB = 1 << 20;
/** Bytes that may be on the way when the client leaves: the buffers of two sockets. */
const ON_THE_WAY = 16 * MB;
/** In the place of the 4 GB of the program. */
const MAX_BYTES = 2 * MB;
const MODEL = { path: `${NAME}/model.onnx`, content: "a graph" };

let store: Awaited<ReturnType<typeof startHostileServer>>;
let elsewhere: typeof store;
beforeAll(async () => {
  [store, elsewhere] = await Promise.all([startHostileServer(), startHostileServer()]);
});
beforeEach(() => {
  store.reset();
  elsewhere.reset();
});
afterAll(() => Promise.all([store.close(), elsewhere.close()]));

const serve = (archive: Buffer) => store.answer("*", (response) => void response.end(archive));

/** A machine with another model and a file beside the cache. */
function machine() {
  const root = temporaryFolder();
  const [cacheDir, dataDir] = [join(root, "below", "cache"), join(root, "data")];
  const kept = join(cacheDir, "fastembed", "fast-bge-base-en", "model.onnx");
  const outside = join(root, "outside");
  for (const file of [kept, outside]) {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, "as before");
  }
  mkdirSync(dataDir);
  const all = () => readdirSync(root, { recursive: true }).map(String).sort();
  const before = all();
  return {
    root,
    outside,
    folder: join(cacheDir, "fastembed", NAME),
    fetch: () =>
      fetchFastembedModel(NAME, cacheDir, {
        dataDir,
        store: store.at,
        onDownload: () => {},
        maxBytes: MAX_BYTES,
      }),
    /** The paths that are new. */
    added: () => all().filter((path) => !before.includes(path)),
    expectAsBefore() {
      expect(all()).toEqual(before);
      for (const file of [kept, outside]) expect(readFileSync(file, "utf8")).toBe("as before");
    },
  };
}

/** Nothing of the archive is installed, or trusted later. */
async function expectRefused(reason: string): Promise<void> {
  const at = machine();
  await expect(at.fetch()).rejects.toThrow(
    new RegExp(`^The model ${NAME} .* can't be downloaded .*${reason}[^\\n]*$`),
  );
  at.expectAsBefore();
}

describe("an archive is refused", () => {
  test.each<[string, Parameters<typeof rawArchive>[0], string]>([
    [
      "with a symbolic link",
      [MODEL, { path: `${NAME}/x`, type: "2", link: "/etc/passwd" }],
      "link",
    ],
    ["with a hard link", [MODEL, { path: `${NAME}/x`, type: "1", link: "/etc/passwd" }], "link"],
    [
      "with a folder that is a link, and a file in it",
      [MODEL, { path: `${NAME}/d`, type: "2", link: "../../../.." }, { path: `${NAME}/d/outside` }],
      "link",
    ],
    ["whose file claims 8 GB", [{ ...MODEL, size: "77777777777" }], "incomplete"],
    ["whose file claims a size in binary", [{ ...MODEL, size: "\x80\xff\xff\xff" }], "damaged"],
    ["whose file claims a negative size", [{ ...MODEL, size: "-1" }], "damaged"],
    ["with a wrong sum", [{ ...MODEL, sum: "000000\0 " }], "damaged"],
    ["without the model", [{ path: "other/model.onnx", content: "a graph" }], "no folder"],
    ["with nothing", [], "no folder"],
    [
      "that unpacks to more than the limit",
      [MODEL, { path: `${NAME}/zeros`, content: Buffer.alloc(8 * MB) }],
      "larger than",
    ],
    [
      "that unpacks to more than the limit outside of the model",
      [MODEL, { path: "zeros", content: Buffer.alloc(8 * MB) }],
      "larger than",
    ],
  ])("%s", async (_, entries, reason) => {
    serve(rawArchive(entries));
    await expectRefused(reason);
  });

  test("that breaks off in a file, and one that is no archive", async () => {
    serve(rawArchive([MODEL]).subarray(0, -20));
    await expectRefused("");
    serve(Buffer.from("<html>"));
    await expectRefused("");
  });
});

test("names that lead elsewhere are left out", async () => {
  const at = machine();
  const content = "evil";
  const to = (path: string) => ({ path, content });
  serve(
    rawArchive([
      MODEL,
      ...["", "../", "../../", "../../../", "../../../../"].map((up) => to(`${NAME}/${up}outside`)),
      to(at.outside),
      to(`../../../outside`),
      to(`${NAME}/..`),
      to(`${NAME}//outside`),
      to(`${NAME}\\..\\..\\outside`),
      to(`${NAME}/c:outside`),
      to(`${NAME}/new\nline`),
      to(`other/model.onnx`),
      { ...to("outside"), prefix: `${NAME}/../../..` },
      { ...to("model.onnx"), prefix: NAME, type: "3" },
      { path: "long", type: "L", content: "../../../outside" },
      { path: "pax", type: "x", content: "27 path=../../../outside\n" },
      to(`${NAME}/tokenizer.json`),
      { path: `${NAME}/device`, type: "3" },
      { path: `${NAME}/pipe`, type: "6" },
    ]),
  );
  const folder = await at.fetch();
  expect(folder).toBe(at.folder);
  expect(readdirSync(folder).sort()).toEqual(["model.onnx", "outside", "tokenizer.json"]);
  expect(readFileSync(join(folder, "model.onnx"), "utf8")).toBe(MODEL.content);
  const within = join("below", "cache", "fastembed", NAME);
  const added = at.added().filter((path) => !path.startsWith(within));
  expect(added).toEqual([join("data", "models.json")]);
  expect(readFileSync(at.outside, "utf8")).toBe("as before");
});

describe("a store is left", () => {
  test("that sends without an end", async () => {
    store.answer("*", store.flood(Buffer.alloc(MB)));
    await expectRefused("larger than");
    expect(store.sent()).toBeLessThan(ON_THE_WAY);
  });

  test("that sends less than it announced", async () => {
    store.answer("*", (response) => {
      response.writeHead(200, { "content-length": "100000000000000" });
      response.write(rawArchive([MODEL]), () => response.destroy());
    });
    await expectRefused("");
  });

  test.each([
    ["another host without https", () => `${elsewhere.at}/x`],
    ["a file", () => "file:///etc/passwd"],
  ])("that leads to %s, whose model would be trusted from then on", async (_, location) => {
    elsewhere.answer("*", (response) => void response.end(rawArchive([MODEL])));
    store.answer("*", store.redirect(location()));
    await expectRefused("without https");
    expect(elsewhere.asked).toEqual([]);
  });
});

test("what a killed process left behind is no part of the model", async () => {
  const at = machine();
  const left = `${at.folder}.part-${process.pid}`;
  mkdirSync(join(left, NAME), { recursive: true });
  writeFileSync(join(left, NAME, "ctxd.json"), "{}");
  serve(rawArchive([MODEL]));
  expect(readdirSync(await at.fetch())).toEqual(["model.onnx"]);
  expect(existsSync(left)).toBe(false);
});
