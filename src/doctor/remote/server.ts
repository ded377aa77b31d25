import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Answer, type Ask, describeAnswer } from "../ask.ts";
import { type Finding, findingsOf } from "../finding.ts";

/** Milliseconds by which the clocks of two machines may differ. */
const TOLERANCE = 5 * 60_000;

const Health = Type.Object({
  status: Type.String(),
  version: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
});

/** Whether what answers is ctxd, and well; what stands before it is to blame for anything else. */
export function checkHealth(answer: Answer): Finding {
  const { ok, problem } = findingsOf("server");
  const { status, headers, json, text } = answer;
  if (Value.Check(Health, json)) {
    if (status === 200) return ok(`ctxd ${json.version} is well`);
    const failed = Object.entries(json.checks).filter(([, result]) => result === "failed");
    const parts = failed.map(([name]) => name).join(", ");
    return problem(
      `ctxd ${json.version} says that something has failed (${parts}): its log tells why.`,
    );
  }
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location) {
    return problem(
      `it redirects to ${location.slice(0, 200)}: use that address, agents follow none.`,
    );
  }
  if (text.includes('"https_required"')) {
    return problem(
      "the proxy does not tell that HTTPS is used: have it send X-Forwarded-Proto: https, and set CTXD_TRUST_PROXY=true.",
    );
  }
  if (status >= 502 && status <= 504) {
    return problem(
      `a proxy answers, but no server behind it (${status}): start ctxd, look at where the proxy sends requests.`,
    );
  }
  if (status === 401 || status === 403) {
    return problem(
      `something before ctxd asks for a sign-in of its own (${describeAnswer(answer)}): let requests pass, ctxd checks who is asking.`,
    );
  }
  return problem(
    `what answers is not ctxd (${describeAnswer(answer)}): look at where the address and the proxy lead.`,
  );
}

/** Whether the clocks of both machines agree, which expiring keys and tokens depend on. */
export function checkClocks({ headers }: Answer, now: number): Finding {
  const { ok, warning } = findingsOf("clock");
  const theirs = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(theirs)) return ok("not told");
  const minutes = Math.round(Math.abs(theirs - now) / 60_000);
  if (Math.abs(theirs - now) < TOLERANCE) return ok("as on this machine");
  const order = theirs > now ? "ahead of" : "behind";
  return warning(`${minutes} minutes ${order} this machine's: set both by NTP.`);
}

/** Whether a key gets through, and what may be done with it. */
export async function checkKey(ask: Ask, key: string): Promise<Finding> {
  const { ok, problem } = findingsOf("key");
  const answer = await call(ask, key, "tools/list", {});
  if (answer.status === 401)
    return problem(
      "it is unknown there, revoked or expired: make another one with ctxd key create.",
    );
  const tools = [...answer.text.matchAll(/"name":"(\w+)"/g)].map(([, name]) => name);
  if (answer.status !== 200 || tools.length === 0) {
    return problem(
      `agents get no tools with it (${describeAnswer(answer)}): look at the server's log.`,
    );
  }
  const canWrite = tools.includes("save_memory");
  return ok(`agents can ${canWrite ? "read and write" : "read, and write nothing"} with it`);
}

/** One message of the protocol's older form, which needs no `initialize` where there are no sessions. */
export function call(
  ask: Ask,
  key: string | null,
  method: string,
  params: object,
): Promise<Answer> {
  return ask("/mcp", {
    method: "POST",
    headers: {
      accept: "application/json, text/event-stream",
      ...(key !== null && { authorization: `Bearer ${key}` }),
    },
    body: { jsonrpc: "2.0", id: 1, method, params },
  });
}
