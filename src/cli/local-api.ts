import type { Config } from "../config.ts";
import { ACCOUNT_HEADER } from "../mcp/local-socket.ts";
import { CommandError, type Environment } from "./failure.ts";
import { reachOwnServer } from "./own-server.ts";
import { requireAccount, withStores } from "./stores.ts";

/** How often a request is sent, to servers that end before they have answered or that are busy. */
const ATTEMPTS = 8;
/** Seconds before a request is sent again, when the server does not say how many. */
const WAIT = 1;

/** Bun ends a request that is silent for five minutes otherwise; its types don't know this. */
const NO_TIMEOUT: object = { timeout: false };

export type LocalApi = Awaited<ReturnType<typeof openLocalApi>>;

/**
 * The API of the server that holds the data folder (one is started when there is none), as the
 * local owner or as another account.
 * @param email the account's; undefined for the local owner
 * @throws CommandError for an unknown address
 */
export async function openLocalApi(config: Config, env: Environment, email: string | undefined) {
  const account =
    email === undefined
      ? null
      : await withStores(config, async ({ accounts }) => requireAccount(accounts, email).id);
  const server = reachOwnServer(config, env);

  return {
    /**
     * Sends a request that may be sent twice, until it is answered.
     * @returns an answer that is no error
     * @throws CommandError with what the server says
     */
    async request(path: string, init: RequestInit = {}): Promise<Response> {
      const headers = new Headers(init.headers);
      if (account !== null) headers.set(ACCOUNT_HEADER, account);
      let reason = "The server ended before it answered.";
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        try {
          await server.connect();
        } catch (error) {
          // To start one was tried more than once already.
          throw new CommandError(server.lastFailure() ?? messageOf(error));
        }
        try {
          const response = await server.request(path, { ...init, headers, ...NO_TIMEOUT });
          if (response.ok) return response;
          reason = await messageIn(response);
          const isForNow = response.status === 429 || response.status === 503;
          if (!isForNow) break;
          await Bun.sleep(1_000 * Number(response.headers.get("retry-after") ?? WAIT));
        } catch (error) {
          if (init.signal?.aborted) throw error;
          reason = messageOf(error);
          server.forget();
        }
      }
      throw new CommandError(reason);
    },

    close: server.close,
  };
}

async function messageIn(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const message = body && Object(Object(body).error).message;
  return typeof message === "string" ? message : `The server answered ${response.status}.`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
