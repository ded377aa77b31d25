import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { requestFailure } from "../downloads.ts";
import { isSecureAddress } from "../setting-values.ts";
import { UpgradeError } from "./upgrade-error.ts";
import { VERSION } from "./versions.ts";

/** Milliseconds that an answer may take, and its bytes. */
const PATIENCE = 30_000;
const MAX_ANSWER = 4 << 20;

/** GitHub's REST API, "Get the latest release"; Gitea and Forgejo answer in the same form. */
const Answer = Type.Object({
  tag_name: Type.String(),
  body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  assets: Type.Array(Type.Object({ name: Type.String(), browser_download_url: Type.String() })),
});

/** A release that was published. */
export interface PublishedRelease {
  readonly version: string;
  /** What is new in it, in Markdown, as somebody wrote it there. */
  readonly notes: string;
  /** The addresses of its files, by name. */
  readonly files: ReadonlyMap<string, string>;
}

/** Where GitHub, or a server of GitHub Enterprise, tells a repository's newest release. */
export function newestReleaseOf(repository: string): string {
  const { host, pathname } = new URL(repository);
  const api = host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`;
  return `${api}/repos${pathname}/releases/latest`;
}

/**
 * Asks for the newest release, in one request.
 * @throws UpgradeError when there is no proper answer
 */
export async function fetchNewestRelease(address: string): Promise<PublishedRelease> {
  const text = await fetchText(address);
  const answer = parse(text);
  const version = answer?.tag_name.replace(/^v/, "") ?? "";
  if (!answer || !VERSION.test(version)) {
    throw new UpgradeError(`The answer of ${address} names no release.`);
  }
  const files = answer.assets.map((each) => [each.name, each.browser_download_url] as const);
  return { version, notes: (answer.body ?? "").replaceAll("\r\n", "\n"), files: new Map(files) };
}

function parse(text: string) {
  try {
    const answer: unknown = JSON.parse(text);
    return Value.Check(Answer, answer) ? answer : null;
  } catch {
    return null;
  }
}

/** A small text. @throws UpgradeError when it does not come */
export async function fetchText(address: string): Promise<string> {
  return await request(address, AbortSignal.timeout(PATIENCE), async (response) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ANSWER) throw new Error("the answer is too long");
    }
    return text;
  });
}

/**
 * Asks an address, which is told nothing but what is asked for.
 * @throws UpgradeError when it is asked in the clear, can't be reached or refuses
 */
export async function request<T>(
  address: string,
  signal: AbortSignal,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  if (!isSecure(address)) throw new UpgradeError(`${address} is no https address.`);
  try {
    const response = await fetch(address, { headers: { "user-agent": "ctxd" }, signal });
    if (!isSecure(response.url)) throw new Error("it leads to an address without https");
    if (!response.ok) throw new Error(explain(response));
    return await read(response);
  } catch (cause) {
    throw new UpgradeError(`${address} can't be asked (${requestFailure(cause)}).`, { cause });
  }
}

/** By https, or by http on this machine. */
function isSecure(address: string): boolean {
  const url = URL.parse(address);
  return url !== null && isSecureAddress(url.origin);
}

function explain({ status, headers }: Response): string {
  if (status === 404) return "there is no release";
  const isLimited = status === 429 || headers.get("x-ratelimit-remaining") === "0";
  return isLimited
    ? "it was asked too often from this network: try again in an hour"
    : `it answers ${status}`;
}
