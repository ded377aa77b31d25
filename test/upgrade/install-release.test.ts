import { afterAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installRelease } from "../../src/upgrade/install-release.ts";
import { fetchNewestRelease } from "../../src/upgrade/release.ts";
import { checksumsOf, program, serveRelease, type TestRelease } from "../support/releases.ts";

const NAME = "ctxd-linux-x64";
const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder with an executable. */
async function installed() {
  const folder = mkdtempSync(join(root, "bin-"));
  const executable = join(folder, "ctxd");
  await Bun.write(executable, program("0.1.0"));
  chmodSync(executable, 0o750);
  return { folder, executable };
}

async function install(
  served: TestRelease,
  {
    signal = new AbortController().signal,
    onProgress = (_bytes: number, _total: number) => {},
  } = {},
) {
  const place = await installed();
  await using server = serveRelease(served);
  const release = await fetchNewestRelease(server.address);
  const options = { executable: place.executable, name: NAME, signal, onProgress };
  const outcome = await installRelease(release, options).then(
    (former) => ({ former }),
    (error: unknown) => ({ error }),
  );
  return { ...place, ...outcome, asked: server.asked };
}

const GOOD = { [NAME]: program("0.2.0") };

test("a release replaces the executable, and the former executable is kept beside it", async () => {
  const seen: number[] = [];
  const { executable, folder, asked, ...outcome } = await install(
    { version: "0.2.0", files: GOOD },
    { onProgress: (bytes) => seen.push(bytes) },
  );
  expect(outcome).toEqual({ former: `${executable}.old` });
  expect(readdirSync(folder).sort()).toEqual(["ctxd", "ctxd.old"]);
  expect(readFileSync(executable, "utf8")).toBe(program("0.2.0"));
  expect(readFileSync(`${executable}.old`, "utf8")).toBe(program("0.1.0"));
  expect(statSync(executable).mode & 0o777).toBe(0o750);
  expect(asked).toEqual(["/latest", "/files/SHA256SUMS", `/files/${NAME}`]);
  expect(seen.at(-1)).toBe(program("0.2.0").length);
});

const REFUSED: [string, TestRelease, RegExp][] = [
  [
    "a download with another checksum",
    { version: "0.2.0", files: GOOD, checksums: checksumsOf({ [NAME]: "another" }) },
    /is damaged or was replaced: its SHA-256 is \w{64}, not \w{64}/,
  ],
  [
    "a release without a checksum of the executable",
    { version: "0.2.0", files: GOOD, checksums: checksumsOf({ "ctxd-linux-x64.old": "x" }) },
    /SHA256SUMS of the release has no line for ctxd-linux-x64/,
  ],
  [
    "a release without an executable for this system",
    { version: "0.2.0", files: { "ctxd-linux-arm64": program("0.2.0") } },
    /The release 0.2.0 has no ctxd-linux-x64/,
  ],
  [
    "an executable that does not start here",
    {
      version: "0.2.0",
      files: { [NAME]: "#!/bin/sh\necho version GLIBC_9 not found >&2; exit 1\n" },
    },
    /ctxd 0.2.0 does not start on this system \(version GLIBC_9 not found\)/,
  ],
  [
    "an executable of another version",
    { version: "0.2.0", files: { [NAME]: program("0.1.5") } },
    /ctxd 0.2.0 does not start on this system/,
  ],
];

test.each(REFUSED)("%s changes nothing", async (_, served, message) => {
  const { executable, folder, ...outcome } = await install(served);
  expect(outcome).toMatchObject({ error: { name: "UpgradeError" } });
  expect("error" in outcome && String(outcome.error)).toMatch(message);
  expect(readdirSync(folder)).toEqual(["ctxd"]);
  expect(readFileSync(executable, "utf8")).toBe(program("0.1.0"));
});

test("an interrupted installation changes nothing", async () => {
  const controller = new AbortController();
  const reason = new Error("stopped");
  const { folder, executable, ...outcome } = await install(
    { version: "0.2.0", files: GOOD },
    { signal: controller.signal, onProgress: () => controller.abort(reason) },
  );
  expect(outcome).toMatchObject({ error: reason });
  expect(readdirSync(folder)).toEqual(["ctxd"]);
  expect(readFileSync(executable, "utf8")).toBe(program("0.1.0"));
});

test("the executable of an earlier upgrade is deleted", async () => {
  const { executable, folder } = await installed();
  await Bun.write(`${executable}.old`, program("0.0.9"));
  await using server = serveRelease({ version: "0.2.0", files: GOOD });
  const { signal } = new AbortController();
  const options = { executable, name: NAME, signal, onProgress: () => {} };
  await installRelease(await fetchNewestRelease(server.address), options);
  expect(readFileSync(`${executable}.old`, "utf8")).toBe(program("0.1.0"));
  expect(readdirSync(folder).sort()).toEqual(["ctxd", "ctxd.old"]);
});
