import { createServer } from "node:net";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Config } from "../config/config.ts";
import { isLocked, readOwner } from "../db/data-lock.ts";
import { errorCode } from "../errors.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";
import { createSend, LOCAL_TIMEOUT_MS, NoAnswer, type Send, sendLocally } from "./send.ts";

/** The answer of `GET /api/health`, as far as all versions have it. */
export const HealthAnswer = Type.Object({
  status: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
});
type Health = "ok" | "failed" | "not ctxd" | "no answer";

/** Checks whether a server uses a data folder, and whether it answers. */
export async function checkServer(dataDir: string): Promise<Finding & { isServed: boolean }> {
  const { ok, problem } = findingsOf("server");
  try {
    if (!isLocked(dataDir)) return { ...ok("no server is running"), isServed: false };
  } catch (error) {
    return { ...problem(`${reasonOf(error)}.`), isServed: false };
  }
  const owner = readOwner(dataDir);
  const who = owner ? `process ${owner.pid} (version ${owner.version})` : "another process";
  const { health, vectors } = await fetchHealth(owner?.address ?? sendLocally(dataDir));
  if (!owner?.address && health === "no answer") {
    return { ...ok(`${who} is starting, restoring a backup or stopping`), isServed: true };
  }
  const where = owner?.address
    ? `at ${owner.address}`
    : "agents in the background, without a port,";
  const serving = `${who} serves ${where}`;
  if (health === "ok") {
    const change = vectors.startsWith("changing")
      ? `, and is changing the model of its vectors (${vectors})`
      : "";
    return { ...ok(`${serving} and is healthy${change}`), isServed: true };
  }
  const reason = {
    failed: "reports a failure: run ctxd health for details, and see its log for the reason",
    "not ctxd": "another program answers there: check the proxy and CTXD_PUBLIC_URL",
    "no answer": "does not answer: see its log, or restart it",
  }[health];
  return { ...problem(`${serving}, but ${reason}.`), isServed: true };
}

/** Checks that the port is free or used by the server. */
export async function checkPort(
  config: Pick<Config, "host" | "port" | "tls">,
  isServed: boolean,
): Promise<Finding> {
  const { ok, problem } = findingsOf("port");
  const { host, port, tls } = config;
  if (port === 0) return ok("the server takes any free port");
  const code = await tryPort(host, port);
  if (code === null && /^(127\.0\.0\.1|0\.0\.0\.0|localhost)$/.test(host) && tls === null) {
    // The server listens there too: browsers try this address of localhost first.
    if ((await tryPort("::1", port)) !== "EADDRINUSE") return ok(`${port} is free`);
    return problem(
      `${port} is in use at [::1] by another program: stop it, or choose another port with --port.`,
    );
  }
  if (code === null) return ok(`${port} is free`);
  if (code !== "EADDRINUSE") {
    return problem(
      `${host}:${port} can't be used (${code}): choose others with --host and --port.`,
    );
  }
  const isCtxd = (await fetchHealth(localAddress(config))).health !== "not ctxd";
  if (isCtxd && isServed) return ok(`${port} is used by the server`);
  const who = isCtxd
    ? "ctxd with another data folder, or a program that does not answer"
    : "another program";
  return problem(`${port} is in use by ${who}: stop it, or choose another port with --port.`);
}

/** Listens on a port for a moment. Returns the system's error code, or `null` when it worked. */
function tryPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(errorCode(error) || error.message));
    server.listen({ host: host.replace(/^\[|\]$/g, ""), port, exclusive: true }, () => {
      server.close(() => resolve(null));
    });
  });
}

/** The origin of a server for this machine. A server on all addresses is reached by loopback. */
export function localAddress({ host, port, tls }: Pick<Config, "host" | "port" | "tls">): string {
  const plain = host.replace(/^\[|\]$/g, "");
  const address = { "0.0.0.0": "127.0.0.1", "::": "::1" }[plain] ?? plain;
  return `${tls ? "https" : "http"}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** @param server its origin, or a function that sends requests to it */
async function fetchHealth(server: string | Send): Promise<{ health: Health; vectors: string }> {
  const result = (health: Health, vectors = "") => ({ health, vectors });
  try {
    // Any certificate is accepted: nothing secret is exchanged, and it may be for another name.
    const send =
      typeof server === "string"
        ? createSend(server, { timeout: LOCAL_TIMEOUT_MS, anyCertificate: true })
        : server;
    const { status, json } = await send("/api/health");
    if (!Value.Check(HealthAnswer, json)) return result("not ctxd");
    return result(status === 200 ? "ok" : "failed", json.checks.vectors);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    // These codes mean that the answer is not HTTP.
    const isOther = /^(HPE_|EPROTO|Malformed|InvalidHTTP)/.test(error.code);
    return result(isOther ? "not ctxd" : "no answer");
  }
}
