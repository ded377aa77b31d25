import { join } from "node:path";
import type { Bound } from "../keys/reach.ts";
import { reachSocketFolder, SOCKET } from "../system/socket-folder.ts";
import { PRESENCE_PATH, VERSION_HEADER } from "./bridge-connections.ts";
import { BOUND_HEADER, encodeBound } from "./header-names.ts";

/** Milliseconds between two looks at whether a server is there. */
const INTERVAL = 20;
/** Milliseconds that a server may take to start: the first one unpacks its libraries. */
const PATIENCE = 120_000;
/** Milliseconds after which a folder that another process holds is looked at again. */
const SECOND_LOOK = 250;
/** Starts that may fail before the reason is told. */
const STARTS = 3;

/** A server that was started in the background. */
export interface StartedServer {
  /** Why it ended, when it did without serving; pending as long as it runs. */
  readonly failure: Promise<string>;
}

interface Dependencies {
  dataDir: string;
  /** Starts a server for the folder. */
  start: () => StartedServer;
  /** Whether a process has the folder's lock, be it that it starts or that it ends. */
  isServed: () => boolean;
  /** Is told the version of a server that is found. */
  onFound: (version: string) => void;
  /** The project that the server is to keep all requests to. */
  bound?: Bound | null;
}

/** The server of a data folder, as a bridge reaches it. */
export type LocalServer = ReturnType<typeof createLocalServer>;

/** Finds the server that owns a data folder, by its socket, and starts one when there is none. */
export function createLocalServer({
  dataDir,
  start,
  isServed,
  onFound,
  bound = null,
}: Dependencies) {
  const binding = bound && encodeBound(bound);
  /**
   * Sends one request. A link to a deep folder is there no longer than that takes: what lies about for
   * days in the folder of temporary files is swept, and another user could lead its name elsewhere.
   */
  const send = async (path: string, init: RequestInit): Promise<Response> => {
    const reach = reachSocketFolder(dataDir);
    const headers = new Headers(init.headers);
    if (binding !== null) headers.set(BOUND_HEADER, binding);
    try {
      const unix = join(reach.path, SOCKET);
      return await fetch(`http://localhost${path}`, { ...init, headers, unix });
    } finally {
      reach.release();
    }
  };
  let found: Promise<void> | null = null;
  let presence = new AbortController();
  let isClosed = false;
  let keepsToProject = true;
  let lastFailure: string | null = null;

  const forget = () => {
    presence.abort();
    presence = new AbortController();
    found = null;
  };

  /** Holds on to the server that listens; false when none does. */
  const hold = async (): Promise<boolean> => {
    const held = presence;
    try {
      const response = await send(PRESENCE_PATH, { signal: held.signal });
      const reader = response.body?.getReader();
      if (!response.ok || !reader) return false;
      const untilEnd = (): Promise<void> =>
        reader.read().then(({ done }) => (done ? undefined : untilEnd()));
      const forgetThis = () => {
        if (presence === held) forget();
      };
      lastFailure = null;
      untilEnd().then(forgetThis, forgetThis);
      onFound(response.headers.get(VERSION_HEADER) ?? "");
      keepsToProject = binding === null || response.headers.get(BOUND_HEADER) === binding;
      return true;
    } catch {
      return false;
    }
  };

  const find = async (): Promise<void> => {
    const deadline = performance.now() + PATIENCE;
    let failures = 0;
    let isStarting = false;
    let lookAgainAt = 0;
    while (!isClosed && !(await hold())) {
      const now = performance.now();
      if (now > deadline) {
        throw new Error("The server of this data folder does not answer: ctxd doctor tells more.");
      }
      if (!isStarting && now >= lookAgainAt) {
        if (isServed()) lookAgainAt = now + SECOND_LOOK;
        else if (failures >= STARTS) throw new Error(lastFailure ?? "");
        else {
          isStarting = true;
          void start().failure.then((reason) => {
            isStarting = false;
            lastFailure = reason;
            failures++;
          });
        }
      }
      await Bun.sleep(INTERVAL);
    }
    if (!keepsToProject) {
      forget();
      throw new Error(
        "The server of this data folder is of an earlier version, which keeps no agent to a project: stop it.",
      );
    }
  };

  const connect = (): Promise<void> => {
    if (found) return found;
    const search = find();
    found = search;
    search.catch(() => {
      if (found === search) found = null;
    });
    return search;
  };

  return {
    /** Resolves when the server answers; it is started when there is none. */
    connect,

    /** Sends a request to the server, once there is one. */
    async request(path: string, init: RequestInit): Promise<Response> {
      await connect();
      return send(path, init);
    },

    /** Why the last server that was started ended, if it did. */
    lastFailure: () => lastFailure,

    /** Has the next message look for the server again. */
    forget,

    /** Lets go of the server. */
    close(): void {
      isClosed = true;
      forget();
    },
  };
}
