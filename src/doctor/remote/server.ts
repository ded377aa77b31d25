import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Finding, findingsOf } from "../finding.ts";
import { type Answer, describeAnswer, type Send } from "../send.ts";
import { HealthAnswer } from "../server.ts";

/** Milliseconds by which the clocks of two machines may differ. */
const TOLERANCE_MS = 5 * 60_000;

const Health = Type.Composite([HealthAnswer, Type.Object({ version: Type.String() })]);

/** Checks that ctxd answers and is healthy. Other answers are those of a proxy. */
export function checkHealth(answer: Answer): Finding {
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
export function checkClocks({ headers }: Answer, now: number): Finding {
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
export async function checkKey(send: Send, key: string): Promise<Finding> {
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

/** Sends one MCP message of the older protocol, which needs no `initialize` without sessions. */
export function callMcp(
  send: Send,
  key: string | null,
  method: string,
  params: object,
): Promise<Answer> {
  return send("/mcp", {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params },
  });
}
