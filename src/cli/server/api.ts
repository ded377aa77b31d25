import type { Config } from "../../config/config.ts";
import { messageOf } from "../../errors.ts";
import type { Server } from "../../local/bridge.ts";
import { ACCOUNT_HEADER } from "../../local/local-socket.ts";
import type { Environment } from "../context.ts";
import { requireAccount, withStores } from "../stores.ts";
import { CommandError, readSecret, usageError } from "../terminal.ts";
import { reachOwnServer } from "./own-server.ts";
import { messageIn, sendWithKey } from "./remote-server.ts";
import { requireEncryption } from "./url.ts";

/** How often a request is sent at most. A server may end before it answers, or be busy. */
const MAX_ATTEMPTS = 8;
/** Seconds between two attempts when the server sends no `Retry-After`. */
const RETRY_SECONDS = 1;
/** The longest `Retry-After` that is respected, in seconds. */
const MAX_RETRY_SECONDS = 60;

/** Without this Bun ends a request that is silent for five minutes. Its types lack the option. */
const NO_TIMEOUT: object = { timeout: false };

/** An account of a server. */
export interface Target {
  /** E-mail address of an account on the server of the data folder. Default: the local owner. */
  user?: string;
  /** A remote server. Its API key is asked for, or read from standard input. */
  url?: URL;
  /** A space of the account, by its name or id, or `personal`. Default: the account itself. */
  space?: string;
}

export type Api = ReturnType<typeof createApi>;

/**
 * Opens the API of a server: the one of the data folder, which is started if none runs, or a remote one.
 * @throws CommandError
 */
export async function openApi(config: Config, env: Environment, { user, url, space }: Target) {
  if (url === undefined) {
    const account = user === undefined ? null : await findAccount(config, user);
    return createApi(reachOwnServer(config, env), { account, space });
  }
  if (user !== undefined) {
    throw usageError("Use --user or --url, not both: an API key belongs to one account.");
  }
  requireEncryption(url, config);
  const key = (await readSecret("API key: ")).trim();
  const address = url.href.replace(/(?<!\/)\/+$/, "");
  const server: Server = {
    connect: async () => {},
    request: (path, init) => sendWithKey(address, key, path, init),
    lastFailure: () => null,
    forget() {},
    close() {},
  };
  return createApi(server, { space });
}

function findAccount(config: Config, user: string): Promise<string> {
  return withStores(config, async ({ accounts }) => (await requireAccount(accounts, user)).id);
}

/** A path with the parameter for a space. A server that knows no spaces refuses it, where it would ignore a header. */
function inSpace(path: string, space: string | undefined): string {
  if (space === undefined) return path;
  return `${path}${path.includes("?") ? "&" : "?"}space=${encodeURIComponent(space)}`;
}

/** @param account of the requests; null for that of the key, or the owner's */
function createApi(
  server: Server,
  { account = null, space }: { account?: string | null; space: string | undefined },
) {
  const requestOnce = (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (account !== null) headers.set(ACCOUNT_HEADER, account);
    return server.request(inSpace(path, space), { ...init, headers, ...NO_TIMEOUT });
  };

  /** Sends a request until the server answers it with success. `isRepeated`: an earlier answer was lost. */
  const send = async (path: string, init: RequestInit) => {
    let reason = "";
    let isRepeated = false;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      await server.connect().catch((error) => {
        // `connect` has already tried several times to start a server.
        throw new CommandError(server.lastFailure() ?? messageOf(error));
      });
      let wait = RETRY_SECONDS;
      try {
        const response = await requestOnce(path, init);
        // The request whose answer was lost has deleted it.
        const isDeleted = isRepeated && init.method === "DELETE" && response.status === 404;
        if (response.ok || isDeleted) return { response, isRepeated };
        reason = await messageIn(response);
        if (response.status !== 429 && response.status !== 503) break;
        wait = Math.min(
          Number(response.headers.get("retry-after")) || RETRY_SECONDS,
          MAX_RETRY_SECONDS,
        );
      } catch (error) {
        if (init.signal?.aborted) throw error;
        reason = messageOf(error);
        isRepeated = true;
        server.forget();
      }
      await Bun.sleep(wait * 1_000);
    }
    throw new CommandError(reason);
  };

  return {
    /**
     * Sends a request until the server answers it. The request must be safe to repeat.
     * @returns a successful answer
     * @throws CommandError with the server's error message
     */
    request: async (path: string, init: RequestInit = {}): Promise<Response> =>
      (await send(path, init)).response,

    /** Sends a request as `request` does. @returns the JSON of the answer */
    async json<Body>(path: string, init: RequestInit = {}): Promise<Body> {
      return (await (await send(path, init)).response.json()) as Body;
    },

    /**
     * Sends a change as `request` does. A `DELETE` may find nothing when it is repeated.
     * @returns the JSON of the answer; null if an earlier one was lost, which had the number of changes
     */
    async change<Body>(path: string, init: RequestInit): Promise<Body | null> {
      // On a kept connection Bun itself repeats a request whose answer is lost, and does not say so.
      const { response, isRepeated } = await send(path, { ...init, keepalive: false });
      return isRepeated ? null : ((await response.json()) as Body);
    },

    [Symbol.dispose]: server.close,
  };
}
