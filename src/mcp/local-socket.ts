import { rmSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import { FULL_ACCESS } from "../keys/scopes.ts";
import { listenOnSocket } from "../system/local-socket.ts";
import { SOCKET } from "../system/socket-folder.ts";
import { createBridgeConnections, PRESENCE_PATH } from "./bridge-connections.ts";
import { answerDashboard, DASHBOARD_PATH, type OpenDashboard } from "./open-dashboard.ts";
import { readBound } from "./session-headers.ts";
import { STOP_REQUEST_PATH } from "./stop-request.ts";

/** A socket that is listened on. */
export interface OpenSocket {
  /** How many bridges hold on to this server. */
  readonly bridges: () => number;
  /** When the last request came or the last bridge left, as `performance.now()` has it; null before. */
  readonly lastUse: () => number | null;
  /** Resolves when a server that a person starts asks this one to make way. */
  readonly stopRequested: Promise<void>;
  close(): Promise<void>;
}

/**
 * Names, by its id, the account that a request on the socket is for. Who may open the socket may
 * also read the files beside it, and make keys for every account.
 */
export const ACCOUNT_HEADER = "ctxd-account";

/** Everyone who may open the socket, less the account and what they bind themselves to. */
const LOCAL = {
  scopes: FULL_ACCESS,
  via: "local",
  credential: { by: "local", id: "local" },
} as const;

/** Is answered whoever asks. */
const HEALTH_PATH = "/api/health";

/**
 * The way in for programs of the same user: a Unix socket in the data folder. Whoever may open it
 * is the local owner, or any account that they name.
 * @param ownerId the account that the local owner uses; an `AppError` that it throws is the answer
 * @param hasAccount whether there is an account with an id
 */
export function createLocalSocket({
  ownerId,
  hasAccount = async () => false,
}: {
  ownerId: () => Promise<string>;
  hasAccount?: (id: string) => Promise<boolean>;
}) {
  const entered = new WeakMap<Request, Principal>();

  return {
    /** Who is behind a request that came by the socket; null for any other. */
    principalOf: (request: Request): Principal | null => entered.get(request) ?? null,

    /**
     * Listens in a data folder. The caller holds the folder's lock: a socket that is there was left
     * by a process that ended.
     */
    listen(
      dataDir: string,
      {
        version,
        answer,
        openDashboard,
      }: {
        version: string;
        answer: (request: Request) => Promise<Response>;
        /** Opens the server's port unless it is open; throws what the person is told. */
        openDashboard: () => Promise<OpenDashboard>;
      },
    ): OpenSocket {
      const presence = createBridgeConnections(version);
      const stopRequested = Promise.withResolvers<void>();
      let lastUse: number | null = null;
      const server = listenOnSocket(dataDir, async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === STOP_REQUEST_PATH) {
          stopRequested.resolve();
          return new Response(null, { status: 202 });
        }
        lastUse = performance.now();
        if (pathname === PRESENCE_PATH) return presence.answer(request);
        if (pathname === DASHBOARD_PATH) return answerDashboard(request, openDashboard);
        try {
          const named = request.headers.get(ACCOUNT_HEADER);
          // A request for an account that is not there is one without credentials.
          if (named === null || (await hasAccount(named))) {
            const accountId = named ?? (await ownerId());
            entered.set(request, { ...LOCAL, accountId, bound: readBound(request.headers) });
          }
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          // Without an owner, what is for nobody's account is answered all the same.
          if (pathname !== HEALTH_PATH) return refusal(error);
        }
        return answer(request);
      });
      return {
        bridges: presence.count,
        lastUse: () => lastUse && Math.max(lastUse, presence.lastEnd()),
        stopRequested: stopRequested.promise,
        async close() {
          rmSync(join(dataDir, SOCKET), { force: true });
          presence.end();
          await server.stop();
        },
      };
    },
  };
}

function refusal({ code, message, status }: AppError): Response {
  return Response.json({ error: { code, message } }, { status });
}
