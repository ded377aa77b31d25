import { lookup } from "node:dns/promises";
import { isLocalhost } from "../../http/https-rule.ts";
import { isPublicAddress } from "../../oauth/public-address.ts";
import { type Answer, type Ask, NoAnswer } from "../ask.ts";
import { type Finding, findingsOf } from "../finding.ts";

const DAY = 86_400_000;
/** A certificate is renewed by itself, if at all, before it has so many days left. */
const FEW_DAYS = 14;

/** Whether programs elsewhere may use the address, by its scheme and name. */
export async function checkAddress({ protocol, hostname, origin }: URL) {
  const { ok, warning, problem } = findingsOf("address");
  if (isLocalhost(hostname)) {
    return { ...ok(`${origin} is for programs on this machine alone`), isPublic: false };
  }
  if (protocol !== "https:") {
    const text = `${origin} sends keys in the clear, and most agents refuse it: serve HTTPS, with CTXD_TLS_CERT and CTXD_TLS_KEY or a proxy in front.`;
    return { ...problem(text), isPublic: false };
  }
  // What is wrong with a name that leads nowhere, the connection tells.
  const addresses = await lookup(hostname.replace(/^\[|\]$/g, ""), { all: true }).catch(() => []);
  const isPublic = addresses.every(({ address }) => isPublicAddress(address));
  if (isPublic) return { ...ok(`${origin} may be on the internet`), isPublic };
  return {
    ...warning(`${origin} leads to a private network: what runs elsewhere can't reach it.`),
    isPublic,
  };
}

/** Whether a connection can be made. Gives what the server says of its health. */
export async function checkConnection(
  ask: Ask,
  { host, hostname, protocol }: URL,
  now: number,
): Promise<Finding & { answer: Answer | null }> {
  const { ok, warning, problem } = findingsOf("connection");
  try {
    const answer = await ask("/api/health");
    if (answer.certificateEnd === null) return { ...ok("made, without encryption"), answer };
    const days = Math.floor((answer.certificateEnd - now) / DAY);
    const text = `made, with a certificate for ${days} more days`;
    return {
      ...(days < FEW_DAYS ? warning(`${text}: see that it is renewed.`) : ok(text)),
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
      `no address is known for ${hostname}: look at its spelling and its DNS record`,
    ],
    [
      /^ECONNREFUSED/,
      `nothing listens at ${host}: start the server or the proxy, look at the port`,
    ],
    [
      /^(ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)/,
      `${host} does not answer: look at firewall and port forwarding`,
    ],
    [/CERT_HAS_EXPIRED/, "the certificate has expired: renew it"],
    [/CERT_NOT_YET_VALID/, "the certificate is not valid yet: look at the clocks of both machines"],
    [/ALTNAME/, `the certificate is made out to another name: get one for ${hostname}`],
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
      `what listens at ${host} does not speak ${isTls ? "HTTPS: is it http://, or another port?" : "HTTP: is it https://?"}`,
    ],
    [
      /^(ECONNRESET|EPIPE)|socket hang up/i,
      `${host} hangs up without an answer: is it ${isTls ? "http" : "https"}://?`,
    ],
  ];
  const [, sentence = `no answer came from ${host}`] =
    known.find(([pattern]) => pattern.test(code)) ?? [];
  return `${sentence} (${code.slice(0, 60)}).`;
}
