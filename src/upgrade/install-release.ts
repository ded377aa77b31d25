import { randomUUID } from "node:crypto";
import { chmod, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createStallTimer } from "../downloads.ts";
import { messageOf } from "../errors.ts";
import { replaceExecutable } from "../system/replace-executable.ts";
import { CHECKSUMS, checksumOf } from "./checksums.ts";
import { fetchText, type PublishedRelease, request } from "./release.ts";
import { UpgradeError } from "./upgrade-error.ts";

/** Time limit of the first start of a new executable. */
const START_TIMEOUT_MS = 120_000;
/** A download larger than this can't be an executable of ctxd. */
const MAX_BYTES = 1 << 30;

interface Options {
  /** Path of the executable that is replaced. */
  readonly executable: string;
  /** Name of this system's executable in the release. */
  readonly name: string;
  readonly signal: AbortSignal;
  onProgress(bytes: number, total: number): void;
}

/**
 * Replaces an executable by that of a release, in one step. Before that it downloads the new executable
 * into the same folder, checks its SHA-256 and starts it once. When any of this fails, the old executable
 * stays.
 * @returns the path of the former executable
 * @throws UpgradeError
 */
export async function installRelease(
  release: PublishedRelease,
  { executable, name, signal, onProgress }: Options,
): Promise<string> {
  const address = addressOf(release, name);
  const sha256 = checksumOf(await fetchText(addressOf(release, CHECKSUMS)), name);
  const part = join(dirname(executable), `.${basename(executable)}-${randomUUID()}`);
  try {
    const found = await download(address, part, { signal, onProgress });
    if (found !== sha256) {
      throw new UpgradeError(
        `${address} is damaged or was replaced: its SHA-256 is ${found}, not ${sha256}. Nothing was changed.`,
      );
    }
    await takeMode(part, executable);
    await start(part, release.version);
    signal.throwIfAborted();
    return await replaceExecutable(executable, part);
  } catch (error) {
    if (error instanceof UpgradeError || error === signal.reason) throw error;
    throw new UpgradeError(`${executable} can't be replaced (${messageOf(error)}).`, {
      cause: error,
    });
  } finally {
    await rm(part, { force: true });
  }
}

function addressOf({ files, version }: PublishedRelease, name: string): string {
  const address = files.get(name);
  if (address !== undefined) return address;
  throw new UpgradeError(`The release ${version} has no ${name}.`);
}

/** Downloads into a new file. Returns the SHA-256 of the received bytes. */
async function download(
  address: string,
  path: string,
  { signal, onProgress }: Pick<Options, "signal" | "onProgress">,
): Promise<string> {
  using stall = createStallTimer();
  const file = await open(path, "wx", 0o600);
  try {
    return await request(address, AbortSignal.any([signal, stall.signal]), async (response) => {
      const total = Number(response.headers.get("content-length") ?? 0);
      const hasher = new Bun.CryptoHasher("sha256");
      let size = 0;
      for await (const chunk of response.body ?? []) {
        stall.restart();
        size += chunk.byteLength;
        if (size > MAX_BYTES) throw new Error("it is too large");
        hasher.update(chunk);
        await file.writeFile(chunk);
        onProgress(size, Math.max(total, size));
      }
      await file.sync();
      return hasher.digest("hex");
    });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    await file.close();
  }
}

/** Copies the mode of the old executable, and makes the file executable for its owner. */
async function takeMode(path: string, from: string): Promise<void> {
  await chmod(path, ((await stat(from)).mode & 0o777) | 0o100);
}

/** Refuses an executable that does not start on this system, for example because the system is too old. */
async function start(path: string, version: string): Promise<void> {
  const child = Bun.spawn([path, "--version"], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: START_TIMEOUT_MS,
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (code === 0 && stdout.trim() === version) return;
  const said = (stderr || stdout).trim().replaceAll(/\s+/g, " ").slice(0, 300);
  throw new UpgradeError(
    `ctxd ${version} does not start on this system (${said || `it ended with ${code}`}). Nothing was changed.`,
  );
}
