import type { createApp } from "../app.ts";
import type { Config } from "../config.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { CAN_SHARE_PORT, preferNewestListener } from "../system/ports.ts";
import { HAS_RELOAD_SIGNAL } from "../system/signals.ts";
import { type Certificate, readCertificate } from "../tls/certificate.ts";
import { watchCertificate } from "../tls/renewal.ts";
import { ServerError } from "./server-error.ts";

/** Seconds that an idle connection lives. */
const IDLE_TIMEOUT = 30;
/**
 * Milliseconds after which a socket with an old certificate is closed: connections that were begun
 * at it have been accepted by then.
 */
const HANDOVER = 3_000;

/** Addresses that make a server `localhost`, by IPv4 alone. */
const IPV4_AT_LOCALHOST = ["127.0.0.1", "0.0.0.0"];

type App = ReturnType<typeof createApp>;
type Where = Pick<Config, "host" | "port" | "tls">;

/** The port of a server: closed, until it is opened once. */
export function createPort(app: App, where: Where, parts: { log: Log; metrics: Metrics }) {
  let listener: { stop(): Promise<void> } | null = null;
  return {
    /** Opens it, unless it is open. @throws ServerError when it is in use, CertificateError */
    open(): void {
      listener ??= listen(app, where, parts);
    },
    stop: async (): Promise<void> => listener?.stop(),
  };
}

/**
 * Has the app listen, with HTTPS when there is a certificate; a renewed one is used by the
 * connections that come after it.
 */
function listen(
  app: App,
  where: Where,
  parts: { log: Log; metrics: Metrics },
): { stop(): Promise<void> } {
  const { tls } = where;
  try {
    if (tls) return listenWithTls(app, { ...where, tls }, parts);
    const host = where.host === "localhost" ? "127.0.0.1" : where.host;
    app.listen(serverOptions({ ...where, host }));
    const twin = IPV4_AT_LOCALHOST.includes(host) ? listenOnIpv6(app, where) : null;
    return { stop: async () => void (await Promise.all([app.stop(), twin?.stop()])) };
  } catch (error) {
    if (codeOf(error) === "EADDRINUSE") {
      throw new ServerError(
        `Port ${where.port} is in use: stop what uses it, or choose another with --port.`,
      );
    }
    throw error;
  }
}

/**
 * Takes the same port of IPv6's loopback, where it is: browsers and programs look for `localhost`
 * there first, and another user of the machine who listens there would get what is meant for us.
 */
function listenOnIpv6(app: App, where: Where): { stop(): Promise<void> } | null {
  const port = app.server?.port ?? where.port;
  try {
    return Bun.serve({ ...serverOptions({ host: "::1", port }), fetch: app.fetch });
  } catch (error) {
    if (codeOf(error) !== "EADDRINUSE") return null;
    void app.stop(true);
    throw new ServerError(
      `Port ${port} is in use at [::1], where browsers look for localhost: stop what uses it, or choose another with --port.`,
    );
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

function serverOptions({ host, port }: Pick<Where, "host" | "port">) {
  return {
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT,
    // Or Bun prints stacks of what breaks off.
    development: false,
    // Elysia would share the port with another process that asks for the same.
    reusePort: false,
    // Routes have limits of their own, and answer in JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Bun can't give a server another certificate (https://github.com/oven-sh/bun/issues/43815): another
 * server takes over the port, and the old one ends when it has answered what it was asked.
 */
function listenWithTls(
  app: App,
  where: Where & { tls: NonNullable<Config["tls"]> },
  { log, metrics }: { log: Log; metrics: Metrics },
): { stop(): Promise<void> } {
  const certificate = readCertificate(where.tls);
  if (certificate.expires.getTime() < Date.now()) {
    log.warn("certificate_expired", { at: certificate.expires.toISOString() });
  }
  const withCertificate = ({ cert, key }: Certificate, port: number) => ({
    ...serverOptions({ ...where, port }),
    reusePort: CAN_SHARE_PORT,
    tls: { cert, key },
  });

  refuseTakenPort(where);
  app.listen(withCertificate(certificate, where.port));
  const port = app.server?.port ?? where.port;
  preferNewestListener(port);
  let ended: Promise<unknown> = Promise.resolve();

  const watch = watchCertificate({
    files: where.tls,
    current: certificate,
    log,
    metrics,
    async use(renewed) {
      const old = app.server;
      // What it was asked before, it answers all the same.
      if (!CAN_SHARE_PORT) ended = Promise.all([ended, old?.stop()]);
      app.server = Bun.serve({ ...withCertificate(renewed, port), fetch: app.fetch });
      await Bun.sleep(HANDOVER);
      ended = Promise.all([ended, old?.stop()]);
    },
  });
  // In a terminal the signal says that the terminal is closed.
  const onHangup = () => void watch.check();
  if (HAS_RELOAD_SIGNAL && !process.stderr.isTTY) process.on("SIGHUP", onHangup);

  return {
    async stop() {
      process.off("SIGHUP", onHangup);
      await watch.stop();
      await Promise.all([app.stop(), ended]);
    },
  };
}

/** Sockets that share a port are this process's alone: another one's is found by not sharing. */
function refuseTakenPort({ host, port }: Where): void {
  const options = { hostname: host, port, reusePort: false, fetch: () => new Response() };
  void Bun.serve(options).stop(true);
}
