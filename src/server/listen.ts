import type { createApp } from "../app.ts";
import type { Config } from "../config/config.ts";
import { errorCode } from "../errors.ts";
import { IDLE_TIMEOUT } from "../http/load/turns.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { CAN_SHARE_PORT, preferNewestListener } from "../system/ports.ts";
import { HAS_RELOAD_SIGNAL } from "../system/processes.ts";
import { type Certificate, readCertificate, watchCertificate } from "../tls/certificate.ts";
import { ServerError } from "./starting.ts";

/**
 * Replaces port 0 in the settings by a free port. The public URL, from which links and the OAuth issuer are
 * made before the server listens, contains that port.
 * @returns the settings, and a function that releases the reserved port for the server
 */
export function reservePort(config: Config): { config: Config; releasePort: () => void } {
  const { host, port, publicUrl } = config;
  const holder = port === 0 ? tryToListen(host) : null;
  if (!holder?.port) return { config, releasePort: () => {} };
  return {
    config: {
      ...config,
      port: holder.port,
      publicUrl: publicUrl.replace(/:0$/, `:${holder.port}`),
    },
    releasePort: () => void holder.stop(true),
  };
}

/** Returns null if the address can't be listened on; the server reports that when it tries. */
function tryToListen(hostname: string) {
  try {
    return Bun.serve({ hostname, port: 0, fetch: () => new Response(null, { status: 503 }) });
  } catch {
    return null;
  }
}

/**
 * Milliseconds after which the socket with the old certificate is closed. By then it has accepted the
 * connections that were waiting.
 */
const HANDOVER_MS = 3_000;

/** Addresses at which a server is reached as `localhost` by IPv4 only. */
const IPV4_LOCALHOST = ["127.0.0.1", "0.0.0.0"];

type App = ReturnType<typeof createApp>;
type Address = Pick<Config, "host" | "port" | "tls">;
type Listener = { stop(): Promise<void> };

/** The port of a server. It is closed at first and is opened once. */
export function createPort(app: App, address: Address, parts: { log: Log; metrics: Metrics }) {
  let listener: Listener | null = null;
  return {
    /** Opens the port if it is closed. @throws ServerError when the port is in use, CertificateError */
    open(): void {
      listener ??= listen(app, address, parts);
    },
    stop: async (): Promise<void> => listener?.stop(),
  };
}

/** Makes the app listen. With a certificate it uses HTTPS; new connections use a renewed certificate. */
function listen(app: App, address: Address, parts: { log: Log; metrics: Metrics }): Listener {
  const { tls } = address;
  try {
    if (tls) return listenWithTls(app, { ...address, tls }, parts);
    const host = address.host === "localhost" ? "127.0.0.1" : address.host;
    app.listen(serverOptions({ ...address, host }));
    const onIpv6 = IPV4_LOCALHOST.includes(host) ? listenOnIpv6(app, address) : null;
    return { stop: async () => void (await Promise.all([app.stop(), onIpv6?.stop()])) };
  } catch (error) {
    throw explain(error, address);
  }
}

/** Explains why an address can't be listened on; gives other errors as they are. */
function explain(error: unknown, { host, port }: Address): unknown {
  switch (errorCode(error)) {
    case "EADDRINUSE":
      return new ServerError(
        `Port ${port} is in use: stop the program that uses it, or choose another with --port.`,
      );
    case "EACCES":
      return new ServerError(`You may not use port ${port}: choose one from 1024 on with --port.`);
    // What Bun says depends on the name and on the system.
    case "ENOENT":
    case "EINVAL":
    case "EADDRNOTAVAIL":
      return new ServerError(
        `This machine has no address ${host}: choose another with --host, such as 127.0.0.1 or 0.0.0.0.`,
      );
    default:
      return error;
  }
}

/**
 * Listens on the same port of the IPv6 loopback address. Browsers and programs try `localhost` there first:
 * another user of the machine who listens there would receive requests for this server.
 * @returns null if the machine has no IPv6
 */
function listenOnIpv6(app: App, address: Address): Listener | null {
  const port = app.server?.port ?? address.port;
  try {
    return Bun.serve({ ...serverOptions({ host: "::1", port }), fetch: app.fetch });
  } catch (error) {
    if (errorCode(error) !== "EADDRINUSE") return null;
    void app.stop(true);
    throw new ServerError(
      `Port ${port} is in use at [::1], where browsers look for localhost: stop the program that uses it, or choose another with --port.`,
    );
  }
}

function serverOptions({ host, port }: Pick<Address, "host" | "port">) {
  return {
    hostname: host,
    port,
    idleTimeout: IDLE_TIMEOUT,
    // Otherwise Bun prints stack traces of broken connections.
    development: false,
    // By default Elysia shares the port with other processes.
    reusePort: false,
    // Routes have their own limits, and answer in JSON.
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  };
}

/**
 * Bun can't change the certificate of a server (https://github.com/oven-sh/bun/issues/43815). So a new
 * server takes over the port, and the old one ends after it has answered its requests.
 */
function listenWithTls(
  app: App,
  address: Address & { tls: NonNullable<Config["tls"]> },
  { log, metrics }: { log: Log; metrics: Metrics },
): Listener {
  const certificate = readCertificate(address.tls);
  if (certificate.expires.getTime() < Date.now()) {
    log.warn("certificate_expired", { at: certificate.expires.toISOString() });
  }
  const withCertificate = ({ cert, key }: Certificate, port: number) => ({
    ...serverOptions({ ...address, port }),
    reusePort: CAN_SHARE_PORT,
    tls: { cert, key },
  });

  refuseTakenPort(address);
  app.listen(withCertificate(certificate, address.port));
  const port = app.server?.port ?? address.port;
  preferNewestListener(port);
  let ended: Promise<unknown> = Promise.resolve();

  const watch = watchCertificate({
    files: address.tls,
    current: certificate,
    log,
    metrics,
    async use(renewed) {
      const old = app.server;
      // The old server still answers the requests that it has received.
      if (!CAN_SHARE_PORT) ended = Promise.all([ended, old?.stop()]);
      app.server = Bun.serve({ ...withCertificate(renewed, port), fetch: app.fetch });
      await Bun.sleep(HANDOVER_MS);
      ended = Promise.all([ended, old?.stop()]);
    },
  });
  // In a terminal SIGHUP means that the terminal was closed.
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

/** Only this process may share the port with itself. A socket that does not share detects other processes. */
function refuseTakenPort({ host, port }: Address): void {
  const options = { hostname: host, port, reusePort: false, fetch: () => new Response() };
  void Bun.serve(options).stop(true);
}
