import type { Bound } from "../keys/reach.ts";
import { BOUND_HEADER, encodeBound } from "../mcp/http-message.ts";
import { fetchOnSocket } from "../system/local-socket.ts";
import { CONNECTION_PATH, VERSION_HEADER } from "./local-socket.ts";

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
  /** The project to which the server must limit all requests. */
  bound?: Bound | null;
}

/** The server of a data folder, as a bridge sees it. */
export type LocalServer = ReturnType<typeof createLocalServer>;

/** Finds the server of a data folder by its socket, and starts one when there is none. */
export function createLocalServer({
  dataDir,
  start,
  isServed,
  onFound,
  bound = null,
}: Dependencies) {
  const binding = bound && encodeBound(bound);
  let search: Promise<void> | null = null;
  let connection = new AbortController();
  let isClosed = false;
  let limitsToProject = true;
  let version: string | null = null;
  const looked = Promise.withResolvers<void>();
  let lastFailure: string | null = null;

  const send = (path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    if (binding !== null) headers.set(BOUND_HEADER, binding);
    return fetchOnSocket(dataDir, path, { ...init, headers });
  };

  const forget = () => {
    connection.abort();
    connection = new AbortController();
    search = null;
    version = null;
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
      version = response.headers.get(VERSION_HEADER) ?? "";
      onFound(version);
      limitsToProject = binding === null || response.headers.get(BOUND_HEADER) === binding;
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
    if (!limitsToProject) {
      forget();
      throw new Error(
        "The server of this data folder has an earlier version, which can't limit an agent to a project. Stop that server.",
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

    /** The version of the server that is there; null for none. Resolves after the first look for one. */
    async version(): Promise<string | null> {
      await looked.promise;
      return version;
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
