import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { AppError, messageOf } from "../errors.ts";
import type { Principal } from "../http/principal.ts";
import { FULL_ACCESS, SPACE_HEADER } from "../keys/scopes.ts";
import { BOUND_HEADER, HOOK_HEADER } from "../mcp/http-message.ts";
import { readBound } from "../mcp/session-headers.ts";
import { SOCKET } from "../system/folders.ts";
import { fetchOnSocket, listenOnSocket } from "../system/local-socket.ts";

/** Path that asks a background server to stop. It exists on the local socket only, as do the next two. */
const STOP_REQUEST_PATH = "/hand-over";
/** Milliseconds to wait for the response. */
const STOP_TIMEOUT_MS = 1_000;

/** Path that opens the server's port for a browser. */
export const DASHBOARD_PATH = "/open-dashboard";

/** The body of the response: where a browser finds the dashboard. */
export const OpenDashboard = Type.Object({
  /** The server's address. */
  address: Type.String(),
  /** The set-up link with its secret; null when the owner's account can't be created there. */
  setUp: Type.Union([Type.String(), Type.Null()]),
});
export type OpenDashboard = Static<typeof OpenDashboard>;

/** Path of the connection that each bridge keeps open. */
export const CONNECTION_PATH = "/presence";

/** Response header with the server's version. */
export const VERSION_HEADER = "ctxd-version";
/** Response header that is there if the owner has spaces, for whom the tools have one field more. */
export const SPACES_HEADER = "ctxd-has-spaces";
/** Request headers that limit a client. Earlier versions do not know them all. */
const LIMITS = [BOUND_HEADER, SPACE_HEADER];

/**
 * Counts the bridges that use this server. Each bridge reads a response that never ends: when the
 * bridge stops reading, it has gone; when the response ends, the server has gone. No side polls.
 */
function createBridgeConnections(version: string) {
  const open = new Set<() => void>();
  let lastEnd = 0;

  return {
    count: () => open.size,
    /** When the last bridge disconnected, in `performance.now()` time; 0 if none has. */
    lastEnd: () => lastEnd,

    answer({ headers: sent, signal }: Request, hasSpaces: boolean): Response {
      let disconnect = () => {};
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          const close = () => controller.close();
          open.add(close);
          disconnect = () => {
            if (open.delete(close)) lastEnd = performance.now();
          };
          // The headers are sent with the first bytes of the body.
          controller.enqueue(new Uint8Array([10]));
        },
        cancel: () => disconnect(),
      });
      signal.addEventListener("abort", () => disconnect(), { once: true });
      const headers = new Headers({ [VERSION_HEADER]: version });
      if (hasSpaces) headers.set(SPACES_HEADER, "1");
      // Repeating a header confirms that it was understood. Earlier versions do not repeat it.
      for (const name of LIMITS) {
        const limit = sent.get(name);
        if (limit !== null) headers.set(name, limit);
      }
      return new Response(body, { headers });
    },

    /** Ends all responses. */
    end() {
      for (const close of open) close();
      open.clear();
    },
  };
}

/** A socket that accepts requests. */
export type OpenSocket = ReturnType<ReturnType<typeof createLocalSocket>["listen"]>;

/**
 * Selects the account of a request on the socket, by its id. A user who may open the socket may also
 * read the data folder and create keys for every account, so this needs no other proof.
 */
export const ACCOUNT_HEADER = "ctxd-account";

/** The principal of every request on the socket, without its account and project. */
const LOCAL_PRINCIPAL = {
  scopes: FULL_ACCESS,
  via: "local",
  credential: { by: "local", id: "local" },
} as const;

/** Answered even when there is no owner. */
const HEALTH_PATH = "/api/health";

/**
 * Serves programs of the same user through a Unix socket in the data folder. A client that may open
 * the socket acts as the local owner, or as any account that it selects by `ACCOUNT_HEADER`.
 * @param ownerId the owner's account; an `AppError` that it throws becomes the response
 * @param hasAccount whether an account exists
 * @param hasSpaces whether the person with an account is a member of spaces
 */
export function createLocalSocket({
  ownerId,
  hasAccount = async () => false,
  hasSpaces = async () => false,
}: {
  ownerId: () => Promise<string>;
  hasAccount?: (id: string) => Promise<boolean>;
  hasSpaces?: (accountId: string) => Promise<boolean>;
}) {
  const principals = new WeakMap<Request, Principal>();

  /** @throws AppError when the request needs the owner's account and there is none */
  const authenticate = async (request: Request): Promise<void> => {
    const selected = request.headers.get(ACCOUNT_HEADER);
    // A request for an account that does not exist counts as one without credentials.
    if (selected !== null && !(await hasAccount(selected))) return;
    const accountId = selected ?? (await ownerId());
    principals.set(request, { ...LOCAL_PRINCIPAL, accountId, bound: readBound(request.headers) });
  };

  return {
    /** The principal of a request that arrived by the socket; null for any other request. */
    principalOf: (request: Request): Principal | null => principals.get(request) ?? null,

    /**
     * Listens in a data folder. The caller must hold the folder's lock: then an existing socket was
     * left behind by a process that has ended, and is replaced.
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
        /** Opens the server's port unless it is open; its error message is shown to the user. */
        openDashboard: () => Promise<OpenDashboard>;
      },
    ) {
      const connections = createBridgeConnections(version);
      const stopRequested = Promise.withResolvers<void>();
      let lastUse: number | null = null;
      let hasHooks = false;
      const server = listenOnSocket(dataDir, async (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === STOP_REQUEST_PATH) {
          stopRequested.resolve();
          return new Response(null, { status: 202 });
        }
        lastUse = performance.now();
        hasHooks ||= request.headers.has(HOOK_HEADER);
        if (pathname === CONNECTION_PATH) {
          // Without an owner, or a database, a bridge connects nevertheless.
          const ofOwner = await ownerId()
            .then(hasSpaces)
            .catch(() => false);
          return connections.answer(request, ofOwner);
        }
        if (pathname === DASHBOARD_PATH) return answerDashboard(request, openDashboard);
        try {
          await authenticate(request);
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          if (pathname !== HEALTH_PATH) return refusal(error);
        }
        return answer(request);
      });
      return {
        /** How many bridges are connected. */
        bridges: connections.count,
        /** When the last request arrived or the last bridge left, in `performance.now()` time; null before. */
        lastUse: () => lastUse && Math.max(lastUse, connections.lastEnd()),
        /** Whether a hook of an agent has sent a request. */
        hasHooks: () => hasHooks,
        /** Whether clients still find the socket. They don't when the data folder was removed. */
        isThere: () => existsSync(join(dataDir, SOCKET)),
        /** Resolves when another server, which a person starts, asks this one to stop. */
        stopRequested: stopRequested.promise,
        async close() {
          rmSync(join(dataDir, SOCKET), { force: true });
          connections.end();
          await server.stop();
        },
      };
    },
  };
}

/** @param open opens the port unless it is open; its error message is shown to the user */
async function answerDashboard(
  request: Request,
  open: () => Promise<OpenDashboard>,
): Promise<Response> {
  if (request.method !== "POST") {
    const error = { code: "method_not_allowed", message: `Use POST for ${DASHBOARD_PATH}.` };
    return Response.json({ error }, { status: 405, headers: { allow: "POST" } });
  }
  try {
    return Response.json(await open());
  } catch (cause) {
    return refusal(new AppError("conflict", messageOf(cause)));
  }
}

function refusal({ code, message, status }: AppError): Response {
  return Response.json({ error: { code, message } }, { status });
}

/**
 * Asks the server of a data folder to stop, so that this process can take the folder over. Only a
 * server in the background does so. Never rejects.
 */
export async function requestStop(dataDir: string): Promise<void> {
  try {
    const signal = AbortSignal.timeout(STOP_TIMEOUT_MS);
    await fetchOnSocket(dataDir, STOP_REQUEST_PATH, { method: "POST", signal });
  } catch {
    // The server is still starting, or it has already closed its socket.
  }
}
