import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isSecureAddress } from "../config/setting-values.ts";
import { CtxdError } from "../errors.ts";
import { readAtMost, requestFailure, requestFile } from "../system/downloads.ts";
import { parsed } from "../text/parse-json.ts";

/** A release can't be fetched or installed. `message` is the line that the user sees. */
class UpgradeError extends CtxdError {
  readonly code = "upgrade_failed";
}

/** The version of a release: three numbers. */
export const VERSION = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

/** Whether a version is newer than another one (Semantic Versioning 2.0.0, section 11). */
export function isNewer(version: string, than: string): boolean {
  return Bun.semver.order(version, than) > 0;
}

const TIMEOUT_MS = 30_000;
/** Bytes of an answer. GitHub allows 125,000 characters of release notes. */
const MAX_BYTES = 1 << 20;

/** GitHub's REST API, "Get the latest release"; Gitea and Forgejo answer in the same form. */
const Answer = Type.Object({
  tag_name: Type.String(),
  body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});

export type PublishedRelease = Awaited<ReturnType<typeof fetchNewestRelease>>;

/** The address of a repository's newest release in the API of GitHub, or of a GitHub Enterprise server. */
export function newestReleaseOf(repository: string): string {
  const { host, pathname } = new URL(repository);
  const api = host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`;
  return `${api}/repos${pathname}/releases/latest`;
}

/**
 * Fetches the newest release in one request.
 * @param timeoutMs for tests
 * @returns its version, and its notes in Markdown, unchecked
 * @throws UpgradeError when the request fails or the answer is not a release
 */
export async function fetchNewestRelease(address: string, timeoutMs = TIMEOUT_MS) {
  const text = await fetchText(address, timeoutMs);
  const answer = parsed(text);
  if (Value.Check(Answer, answer)) {
    const version = answer.tag_name.replace(/^v/, "");
    const notes = (answer.body ?? "").replaceAll("\r\n", "\n");
    if (VERSION.test(version)) return { version, notes };
  }
  throw new UpgradeError(`The answer of ${address} names no release.`);
}

/**
 * Fetches a small text, without sending anything about this installation.
 * @throws UpgradeError when the address is not https, can't be reached, answers with an error or too much
 */
async function fetchText(address: string, timeoutMs: number): Promise<string> {
  const url = URL.parse(address);
  // Http is allowed on this machine.
  if (!url || !isSecureAddress(url.origin)) {
    throw new UpgradeError(`${address} is not an https address.`);
  }
  try {
    const response = await requestFile(address, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok) throw new Error(explain(response));
    return new TextDecoder().decode(await readAtMost(response.body, MAX_BYTES));
  } catch (cause) {
    throw new UpgradeError(`${address} can't be fetched (${requestFailure(cause)}).`, { cause });
  }
}

function explain({ status, headers }: Response): string {
  if (status === 404) return "there is no release";
  const isLimited = status === 429 || headers.get("x-ratelimit-remaining") === "0";
  return isLimited
    ? "too many requests came from this network: try again in an hour"
    : `it answers ${status}`;
}
