import type { Config } from "../config.ts";
import { messageOf } from "../errors.ts";
import { ACCOUNT_HEADER } from "../mcp/local-socket.ts";
import { CommandError, USAGE } from "./command-error.ts";
import type { Environment } from "./context.ts";
import { reachOwnServer } from "./own-server.ts";
import { requireAccount, withStores } from "./stores.ts";
import { askHidden, isInteractive, readLine } from "./terminal.ts";
import { requireEncryption } from "./url.ts";

/** How often a request is sent, to servers that end before they have answered or that are busy. */
const ATTEMPTS = 8;
/** Seconds before a request is sent again, when the server does not say how many. */
const WAIT = 1;
/** Seconds that a server may have it wait at the most. */
const MAX_WAIT = 60;

/** Bun ends a request that is silent for five minutes otherwise; its types don't know this. */
const NO_TIMEOUT: object = { timeout: false };

/** Which account of which server. */
export interface Target {
  /** E-mail address of an account of the server of the data folder; by default the local owner's. */
  user?: string;
  /** A server elsewhere; then a key is asked for, or read from standard input. */
  url?: URL;
}

export type Api = ReturnType<typeof createApi>;

/**
 * The API of a server: of the one that holds the data folder (started when there is none), or of one
 * elsewhere.
 * @throws CommandError
 */
export async function openApi(config: Config, env: Environment, { user, url }: Target) {
  if (url === undefined) return createApi(await reachLocal(config, env, user));
  if (user !== undefined) {
    throw new CommandError("--user and --url don't go together: the key tells the account.", USAGE);
  }
  requireEncryption(url, config);
  const key = isInteractive() ? await askHidden("API key: ") : await readLine();
  return createApi(reachRemote(url, key.trim()));
}

/** A way to a server. */
interface Way {
  /** @throws CommandError when there is no server */
  connect(): Promise<unknown>;
  send(path: string, init: RequestInit): Promise<Response>;
  /** Is told that a request was not answered. */
  forget(): void;
  close(): void;
}

async function reachLocal(config: Config, env: Environment, user?: string): Promise<Way> {
  const account =
    user === undefined
      ? null
      : await withStores(config, async ({ accounts }) => (await requireAccount(accounts, user)).id);
  const server = reachOwnServer(config, env);
  return {
    connect: () =>
      server.connect().catch((error) => {
        // To start one was tried more than once already.
        throw new CommandError(server.lastFailure() ?? messageOf(error));
      }),
    send(path, init) {
      const headers = new Headers(init.headers);
      if (account !== null) headers.set(ACCOUNT_HEADER, account);
      return server.request(path, { ...init, headers, ...NO_TIMEOUT });
    },
    forget: server.forget,
    close: server.close,
  };
}

function reachRemote(url: URL, key: string): Way {
  const origin = url.href.replace(/\/+$/, "");
  return {
    connect: async () => {},
    send(path, init) {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${key}`);
      return fetch(`${origin}${path}`, { ...init, headers, redirect: "manual", ...NO_TIMEOUT });
    },
    forget() {},
    close() {},
  };
}

function createApi(way: Way) {
  return {
    /**
     * Sends a request that may be sent twice, until it is answered.
     * @returns an answer that is no error
     * @throws CommandError with what the server says
     */
    async request(path: string, init: RequestInit = {}): Promise<Response> {
      let reason = "";
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        await way.connect();
        let wait = WAIT;
        try {
          const response = await way.send(path, init);
          if (response.ok) return response;
          reason = await messageIn(response);
          if (response.status !== 429 && response.status !== 503) break;
          wait = Math.min(Number(response.headers.get("retry-after")) || WAIT, MAX_WAIT);
        } catch (error) {
          if (init.signal?.aborted) throw error;
          reason = messageOf(error);
          way.forget();
        }
        await Bun.sleep(wait * 1_000);
      }
      throw new CommandError(reason);
    },

    [Symbol.dispose]: way.close,
  };
}

async function messageIn(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => null);
  const message = body && Object(Object(body).error).message;
  return typeof message === "string" ? message : `The server answered ${response.status}.`;
}
