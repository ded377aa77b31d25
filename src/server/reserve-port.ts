import type { Config } from "../config/config.ts";

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
