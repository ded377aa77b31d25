import { lookup } from "node:dns/promises";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isLocalhost } from "../../http/requests/proxy.ts";
import { isPublicAddress } from "../../oauth/clients/document-fetcher.ts";
import { type Finding, findingsOf } from "../finding.ts";
import { type Answer, createSend, describeAnswer, NoAnswer, type Send } from "../send.ts";
import { HealthAnswer } from "../server.ts";
import {
  callMcp,
  checkAuthorization,
  checkChallenge,
  checkDocuments,
  checkEndpoints,
  PROFILES,
  tryClient,
} from "./clients.ts";

const DAY = 86_400_000;
/** Days before expiry when a certificate should have been renewed automatically. */
const FEW_DAYS = 14;

/** Checks by scheme and name whether programs elsewhere can use an address. */
async function checkAddress({ protocol, hostname, origin }: URL) {
  const { ok, warning, problem } = findingsOf("address");
  if (isLocalhost(hostname)) {
    return { ...ok(`${origin} works for programs on this machine only`), isPublic: false };
  }
  if (protocol !== "https:") {
    const text = `${origin} sends keys unencrypted, and most agents refuse it: serve HTTPS, with CTXD_TLS_CERT and CTXD_TLS_KEY or a proxy in front.`;
    return { ...problem(text), isPublic: false };
  }
  // An unknown name is reported by the check of the connection.
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  const isPublic = addresses.every(({ address }) => isPublicAddress(address));
  if (isPublic) return { ...ok(`${origin} can be reachable from the internet`), isPublic };
  return {
    ...warning(`${origin} is in a private network: programs elsewhere can't reach it.`),
    isPublic,
  };
}

/** Checks the connection, and returns the answer of the health check. */
async function checkConnection(
  send: Send,
  { host, hostname, protocol }: URL,
  now: number,
): Promise<Finding & { answer: Answer | null }> {
  const { ok, warning, problem } = findingsOf("connection");
  try {
    const answer = await send("/api/health");
    if (answer.certificateEnd === null) return { ...ok("works, without encryption"), answer };
    const days = Math.floor((answer.certificateEnd - now) / DAY);
    const text = `works, with a certificate that is valid for ${days} more days`;
    return {
      ...(days < FEW_DAYS ? warning(`${text}: renew it.`) : ok(text)),
      answer,
    };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const reason = describeFailure(error.code, { host, hostname, isTls: protocol === "https:" });
    return { ...problem(reason), answer: null };
  }
}

function describeFailure(
  code: string,
  { host, hostname, isTls }: { host: string; hostname: string; isTls: boolean },
): string {
  const known: [pattern: RegExp, sentence: string][] = [
    [
      /^(ENOTFOUND|EAI_)/,
      `no address is known for ${hostname}: check its spelling and its DNS record`,
    ],
    [
      /^ECONNREFUSED/,
      `nothing listens at ${host}: start the server or the proxy, or check the port`,
    ],
    [
      /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/,
      `${host} does not answer: check the firewall and port forwarding`,
    ],
    [/CERT_HAS_EXPIRED/, "the certificate has expired: renew it"],
    [/CERT_NOT_YET_VALID/, "the certificate is not valid yet: check the clocks of both machines"],
    [/ALTNAME/, `the certificate is for another name: get one for ${hostname}`],
    [
      /SELF_SIGNED_CERT/,
      "the certificate is self-signed, which agents refuse: get one from a public authority such as Let's Encrypt",
    ],
    [
      /UNABLE_TO_(VERIFY|GET)/,
      "the certificate can't be traced to a known authority: serve the full chain (fullchain.pem), or get one from a public authority",
    ],
    [
      /WRONG_VERSION|EPROTO|HTTP_REQUEST/,
      `the program at ${host} does not speak ${isTls ? "HTTPS: is it http://, or another port?" : "HTTP: is it https://?"}`,
    ],
    [
      /^(ECONNRESET|EPIPE)|socket hang up/i,
      `${host} closes the connection without an answer: is it ${isTls ? "http" : "https"}://?`,
    ],
  ];
  const [, sentence = `${host} does not answer`] =
    known.find(([pattern]) => pattern.test(code)) ?? [];
  return `${sentence} (${code.slice(0, 60)}).`;
}

/** Milliseconds by which the clocks of two machines may differ. */
const TOLERANCE_MS = 5 * 60_000;

const Health = Type.Composite([HealthAnswer, Type.Object({ version: Type.String() })]);

/** Checks that ctxd answers and is healthy. Other answers are those of a proxy. */
function checkHealth(answer: Answer): Finding {
  const { ok, problem } = findingsOf("server");
  const { status, headers, json, text } = answer;
  if (Value.Check(Health, json)) {
    if (status === 200) return ok(`ctxd ${json.version} is healthy`);
    const failed = Object.entries(json.checks).filter(([, result]) => result === "failed");
    const parts = failed.map(([name]) => name).join(", ");
    return problem(
      `ctxd ${json.version} reports a failure (${parts}): see its log for the reason.`,
    );
  }
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location) {
    return problem(
      `it redirects to ${location.slice(0, 200)}: use that address, because agents follow no redirects.`,
    );
  }
  if (text.includes('"https_required"')) {
    return problem(
      "the proxy does not tell ctxd that HTTPS is used: make it send X-Forwarded-Proto: https, and set CTXD_TRUST_PROXY=true.",
    );
  }
  if (status >= 502 && status <= 504) {
    return problem(
      `a proxy answers, but no server behind it (${status}): start ctxd, and check where the proxy sends requests.`,
    );
  }
  if (status === 401 || status === 403) {
    return problem(
      `a proxy requires its own sign-in (${describeAnswer(answer)}): let it pass requests, because ctxd checks them itself.`,
    );
  }
  return problem(
    `another program than ctxd answers (${describeAnswer(answer)}): check the address and where the proxy sends requests.`,
  );
}

/** Checks that the clocks of both machines agree: expiring keys and tokens depend on it. */
function checkClocks({ headers }: Answer, now: number): Finding {
  const { ok, warning } = findingsOf("clock");
  const serverTime = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(serverTime)) return ok("unknown: the answer has no date");
  const minutes = Math.round(Math.abs(serverTime - now) / 60_000);
  if (Math.abs(serverTime - now) < TOLERANCE_MS) return ok("as on this machine");
  const order = serverTime > now ? "ahead of" : "behind";
  return warning(`${minutes} minutes ${order} this machine's: set both by NTP.`);
}

/** What an agent can do that has a tool. */
const VERBS = {
  search_memories: "read",
  save_memory: "save",
  update_memory: "change",
  delete_memory: "delete",
};

/** Checks an API key, and what agents may do with it. */
async function checkKey(send: Send, key: string): Promise<Finding> {
  const { ok, problem } = findingsOf("key");
  const answer = await callMcp(send, key, "tools/list", {});
  if (answer.status === 401)
    return problem("it is unknown, revoked or expired: create another with ctxd key create.");
  const tools = [...answer.text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
  if (answer.status !== 200 || tools.length === 0) {
    return problem(
      `agents get no tools with it (${describeAnswer(answer)}): see the server's log.`,
    );
  }
  const verbs = Object.entries(VERBS).flatMap(([tool, verb]) => (tools.includes(tool) ? verb : []));
  const isAll = verbs.length === Object.keys(VERBS).length;
  const only = new Intl.ListFormat("en-GB").format(verbs);
  return ok(`agents can ${isAll ? "read and write" : `only ${only}`} with it`);
}

/**
 * Checks a server as agents on other machines use it, and follows the steps of well-known clients up to the
 * sign-in. Yields one finding for each check. A problem skips the checks that depend on it.
 * @param key an API key to check; null for none
 */
export async function* examineServer({
  url,
  key,
  clock,
}: {
  url: URL;
  key: string | null;
  clock: () => number;
}): AsyncGenerator<Finding> {
  const { origin } = url;
  const send = createSend(origin);
  const { isPublic, ...address } = await checkAddress(url);
  yield address;
  const { answer, ...connection } = await checkConnection(send, url, clock());
  yield connection;
  if (answer === null) return;
  const health = checkHealth(answer);
  yield health;
  if (answer.status !== 200 || health.state === "problem") return;
  yield checkClocks(answer, clock());
  try {
    yield* checkDocuments(send, origin);
    yield await checkChallenge(send, origin);
    yield await checkAuthorization(send);
    yield await checkEndpoints(send);
    // No key is sent to an unencrypted address.
    if (key !== null && address.state !== "problem") yield await checkKey(send, key);
    for (const profile of PROFILES) yield await tryClient(profile, { send, origin, isPublic });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    yield {
      check: "connection",
      state: "problem",
      message: `the server stopped answering (${error.code}): see the logs of the server and the proxy.`,
    };
  }
}
