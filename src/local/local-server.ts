import type { Bound } from "../keys/reach.ts";
import { SPACE_HEADER } from "../keys/scopes.ts";
import { BOUND_HEADER, encodeBound } from "../mcp/http-message.ts";
import { fetchOnSocket } from "../system/local-socket.ts";
import { CONNECTION_PATH, SPACES_HEADER, VERSION_HEADER } from "./local-socket.ts";

/** Milliseconds between two attempts to connect. */
const RETRY_MS = 20;
/** Milliseconds that a server may take to start: its first start unpacks its libraries. */
const START_TIMEOUT_MS = 120_000;
/** Milliseconds between two checks of a folder that another process has locked. */
const RECHECK_MS = 250;
/** Failed starts after which the search for a server fails. */
const MAX_FAILED_STARTS = 3;

/** A server that was started in the background. */
export interface StartedServer {
  /** Why the server ended without serving; pending while it runs. */
  readonly failure: Promise<string>;
}

interface Dependencies {
  dataDir: string;
  /** Starts a server for the folder. */
  start: () => StartedServer;
  /** Whether a process has locked the folder: its server is starting, running or ending. */
  isServed: () => boolean;
  /** Receives the version of every server that is found. */
  onFound: (version: string) => void;
  limits?: RequestLimits;
}

/** To what the server must limit all requests; null for no limit. */
export interface RequestLimits {
  readonly bound?: Bound | null;
  /** The name or id of a space, or `personal`. */
  readonly space?: string | null;
}

/** What a server says about itself. */
interface Found {
  readonly version: string;
  /** Whether the local owner is a member of spaces. */
  readonly hasSpaces: boolean;
}

/** The server of a data folder, as a bridge sees it. */
export type LocalServer = ReturnType<typeof createLocalServer>;

/** Finds the server of a data folder by its socket, and starts one when there is none. */
export function createLocalServer({
  dataDir,
  start,
  isServed,
  onFound,
  limits: { bound = null, space = null } = {},
}: Dependencies) {
  const limits = [
    ...(bound ? [[BOUND_HEADER, encodeBound(bound)] as const] : []),
    ...(space === null ? [] : [[SPACE_HEADER, encodeURIComponent(space)] as const]),
  ];
  let search: Promise<void> | null = null;
  let connection = new AbortController();
  let isClosed = false;
  let knowsLimits = true;
  let found: Found | null = null;
  const looked = Promise.withResolvers<void>();
  let lastFailure: string | null = null;

  const send = (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of limits) headers.set(name, value);
    return fetchOnSocket(dataDir, path, { ...init, headers });
  };

  const forget = () => {
    connection.abort();
    connection = new AbortController();
    search = null;
    found = null;
  };

  /** Opens the connection that stays open as long as the server runs; false when none listens. */
  const open = async (): Promise<boolean> => {
    const opened = connection;
    const forgetThis = () => {
      if (connection === opened) forget();
    };
    try {
      const response = await send(CONNECTION_PATH, { signal: opened.signal });
      if (!response.ok || !response.body) return false;
      lastFailure = null;
      response.body.pipeTo(new WritableStream()).then(forgetThis, forgetThis);
      const { headers } = response;
      const version = headers.get(VERSION_HEADER) ?? "";
      found = { version, hasSpaces: headers.has(SPACES_HEADER) };
      onFound(version);
      knowsLimits = limits.every(([name, value]) => headers.get(name) === value);
      return true;
    } catch {
      return false;
    } finally {
      looked.resolve();
    }
  };

  const find = async (): Promise<void> => {
    const deadline = performance.now() + START_TIMEOUT_MS;
    let failures = 0;
    let isStarting = false;
    let nextCheck = 0;
    const startIfNeeded = (now: number) => {
      if (isStarting || now < nextCheck) return;
      if (isServed()) {
        nextCheck = now + RECHECK_MS;
        return;
      }
      if (failures >= MAX_FAILED_STARTS) throw new Error(lastFailure ?? "");
      isStarting = true;
      void start().failure.then((reason) => {
        isStarting = false;
        lastFailure = reason;
        failures++;
      });
    };
    while (!isClosed && !(await open())) {
      const now = performance.now();
      if (now > deadline) {
        throw new Error("The server of this data folder does not answer. Run: ctxd doctor");
      }
      startIfNeeded(now);
      await Bun.sleep(RETRY_MS);
    }
    if (!knowsLimits) {
      forget();
      throw new Error(
        "The server of this data folder has an earlier version, which can't limit an agent to a project or a space. Stop that server.",
      );
    }
  };

  const connect = (): Promise<void> => {
    if (search) return search;
    const started = find();
    search = started;
    started.catch(() => {
      if (search === started) search = null;
    });
    return started;
  };

  return {
    /** Resolves when the server answers. Starts it when there is none. */
    connect,

    /** Connects, then sends a request to the server. */
    async request(path: string, init: RequestInit): Promise<Response> {
      await connect();
      return send(path, init);
    },

    /** The server that is there; null for none. Resolves after the first look for one. */
    async found(): Promise<Found | null> {
      await looked.promise;
      return found;
    },

    /** Why the last server that was started ended; null when it serves. */
    lastFailure: () => lastFailure,

    /** Closes the connection. The next request looks for the server again. */
    forget,

    /** Closes the connection and stops looking for a server. */
    close(): void {
      isClosed = true;
      forget();
    },
  };
}
