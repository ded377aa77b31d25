import type { Config } from "../config.ts";

/**
 * Settings with a real port: for port 0 a free one is taken, and named in the public URL, of which
 * links and the OAuth issuer are made before the server listens.
 * @returns also what gives the port back, for the server to take
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

/** Returns null for an address that can't be listened on, as the server will say when it tries. */
function tryToListen(hostname: string) {
  try {
    return Bun.serve({ hostname, port: 0, fetch: () => new Response(null, { status: 503 }) });
  } catch {
    return null;
  }
}
