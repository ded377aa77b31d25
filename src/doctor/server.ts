import { createServer } from "node:net";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Config } from "../config.ts";
import { isLocked, readOwner } from "../db/data-lock.ts";
import { type Ask, createAsk, NoAnswer } from "./ask.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Milliseconds after which a server that does not answer counts as failed. */
const TIMEOUT = 5_000;

const HealthAnswer = Type.Object({
  status: Type.String(),
  checks: Type.Record(Type.String(), Type.String()),
});
type Health = "ok" | "failed" | "not ctxd" | "no answer";

/**
 * Who serves a data folder, and whether that server answers.
 * @param askLocally asks over the folder's socket
 */
export async function checkServer(
  dataDir: string,
  askLocally: Ask,
): Promise<Finding & { isServed: boolean }> {
  const { ok, problem } = findingsOf("server");
  try {
    if (!isLocked(dataDir)) return { ...ok("none is running"), isServed: false };
  } catch (error) {
    return { ...problem(`${reasonOf(error)}.`), isServed: false };
  }
  const owner = readOwner(dataDir);
  const who = owner ? `process ${owner.pid} (version ${owner.version})` : "another process";
  const { health, vectors } = await askHealth(owner?.address ?? askLocally);
  if (!owner?.address && health === "no answer") {
    return { ...ok(`${who} is starting, restoring a backup or about to end`), isServed: true };
  }
  const where = owner?.address
    ? `at ${owner.address}`
    : "agents in the background, without a port,";
  const serving = `${who} serves ${where}`;
  if (health === "ok") {
    const change = vectors.startsWith("changing")
      ? `, its model of vectors is being changed (${vectors})`
      : "";
    return { ...ok(`${serving} and is well${change}`), isServed: true };
  }
  const reason = {
    failed: "says that something has failed: ctxd health tells what, and its log why",
    "not ctxd": "is not what answers there: look at what stands before it (proxy, CTXD_PUBLIC_URL)",
    "no answer": "does not answer: look at its log, or stop it and start it again",
  }[health];
  return { ...problem(`${serving}, but ${reason}.`), isServed: true };
}

/** Whether the port is free for a server, or has one already. */
export async function checkPort(
  { host, port, tls }: Pick<Config, "host" | "port" | "tls">,
  isServed: boolean,
): Promise<Finding> {
  const { ok, problem } = findingsOf("port");
  if (port === 0) return ok("any free one is taken");
  const code = await tryPort(host, port);
  if (code === null && /^(127\.0\.0\.1|0\.0\.0\.0|localhost)$/.test(host) && tls === null) {
    // The server takes it too: browsers look for localhost there first.
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
  const isCtxd = (await askHealth(loopback(host, port, tls !== null))).health !== "not ctxd";
  if (isCtxd && isServed) return ok(`${port} is used by the server`);
  const who = isCtxd
    ? "a ctxd that serves another data folder, or a program that is silent"
    : "another program";
  return problem(`${port} is in use by ${who}: stop it, or choose another port with --port.`);
}

/** The system's reason why a port can't be listened on, or `null`. Frees it at once. */
function tryPort(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    server.listen({ host: host.replace(/^\[|\]$/g, ""), port, exclusive: true }, () => {
      server.close(() => resolve(null));
    });
  });
}

/** Where this machine reaches a server: one that listens everywhere is reached by loopback. */
function loopback(host: string, port: number, isTls: boolean): string {
  const bare = host.replace(/^\[|\]$/g, "");
  const address = { "0.0.0.0": "127.0.0.1", "::": "::1" }[bare] ?? bare;
  return `${isTls ? "https" : "http"}://${address.includes(":") ? `[${address}]` : address}:${port}`;
}

/** @param server its origin, or what asks it */
async function askHealth(server: string | Ask): Promise<{ health: Health; vectors: string }> {
  const told = (health: Health, vectors = "") => ({ health, vectors });
  try {
    // Nothing secret is asked or told, and a certificate may be made out to another name.
    const ask =
      typeof server === "string"
        ? createAsk(server, { timeout: TIMEOUT, anyCertificate: true })
        : server;
    const { status, json } = await ask("/api/health");
    if (!Value.Check(HealthAnswer, json)) return told("not ctxd");
    return told(status === 200 ? "ok" : "failed", json.checks.vectors);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    // What answers does not speak HTTP.
    const isOther = /^(HPE_|EPROTO|Malformed|InvalidHTTP)/.test(error.code);
    return told(isOther ? "not ctxd" : "no answer");
  }
}
