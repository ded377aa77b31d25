import { peerOf } from "../requests/proxy.ts";

/** Seconds after which an idle connection is closed. */
export const IDLE_TIMEOUT = 30;

/** The part of a running server that closes idle connections. */
interface IdleTimeouts {
  /** @param seconds 0 for no limit */
  timeout(request: Request, seconds: number): void;
}

/** A handler of requests. Elysia's types do not name the type of answers. */
export type Handle = (request: Request, ...rest: unknown[]) => unknown;

/** Wraps the handler of requests: changes each answer, or does something else, before it is sent. */
export const beforeAnswer =
  (change: (response: Response, request: Request) => void) =>
  (handle: Handle) =>
  async (request: Request, ...rest: unknown[]) => {
    const response = await handle(request, ...rest);
    if (response instanceof Response) change(response, request);
    return response;
  };

const unlimited = new WeakMap<Request, IdleTimeouts>();

/** Keeps the connection of a request open until it is answered, however long the work takes. */
export function allowLongWork(request: Request, server: IdleTimeouts | null): void {
  server?.timeout(request, 0);
  if (server && peerOf(request) !== "") unlimited.set(request, server);
}

/**
 * Closes a connection whose client does not read the answer to long work. Otherwise a client could hold any number of
 * them. Each part of an answer that is read begins a new period.
 */
export function createUnreadLimit(seconds = IDLE_TIMEOUT) {
  return beforeAnswer((_, request) => unlimited.get(request)?.timeout(request, seconds));
}

/** Milliseconds between two looks at the main thread, and by how much a look is late after a long step. */
const LOOK_MS = 5;
const LATE_MS = 5;
/** Milliseconds for which the main thread counts as busy after a long step. */
const BUSY_MS = 500;
/** Milliseconds for which an account counts as active after its last request. */
const ACTIVE_MS = 250;
/**
 * How many times as long as a request an account with several at once rests after it: beside an account that has one at a
 * time, and beside others of its kind only.
 */
const REST = { besideLight: 3, besideOthers: 1 };
/** The most milliseconds for which an account rests. */
const REST_MS = 400;
/** The most milliseconds that a request waits for others of its account: they may wait for something else themselves. */
const PATIENCE_MS = 1_000;

/** Tells whether the main thread is busy with long steps, while it is watched. */
function createBusyWatch() {
  let busyUntil = 0;
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    isBusy: (): boolean => performance.now() < busyUntil,
    watch(): void {
      if (timer) return;
      let last = performance.now();
      timer = setInterval(() => {
        const now = performance.now();
        if (now - last > LOOK_MS + LATE_MS) busyUntil = now + BUSY_MS;
        last = now;
      }, LOOK_MS);
    },
    stop(): void {
      clearInterval(timer);
      timer = undefined;
    },
  };
}

interface Turn {
  readonly accountId: string;
  readonly began: number;
  /** What of the request is still to be done before its turn ends: its answer, and work that outlasts the answer's beginning. */
  parts: number;
}

/** Requests of an account that is active. */
interface Requests {
  underWay: number;
  /** Whether a request has arrived in this round of the event loop. */
  hasArrived: boolean;
  /** Until when the account counts as one with several requests at once, by `performance.now()`. */
  several: number;
  /** Begins each request that waits, in the order of their arrival. */
  readonly waiting: Set<() => void>;
  /** Forgets the account. */
  forget: ReturnType<typeof setTimeout> | undefined;
}

export type Turns = ReturnType<typeof createTurns>;

/**
 * Shares the main thread between accounts. It does one thing after another, in the order of arrival: each step of a
 * request would wait for a step of every request of an account with many. So while the main thread is busy and several
 * accounts use it, the requests of each account begin one after another, and an account with several at once rests between
 * them. It then takes a quarter of the time, which leaves the main thread free most of the time for the others.
 */
export function createTurns({ patience = PATIENCE_MS } = {}) {
  const accounts = new Map<string, Requests>();
  /** The turn of each request or step of an answer; null before it begins and after it has ended. */
  const begun = new WeakMap<object, Turn | null>();
  const mainThread = createBusyWatch();

  /** Whether an account has, or just had, several requests at once. */
  const isHeavy = ({ several }: Requests): boolean => performance.now() < several;
  const isCrowded = () => accounts.size > 1 && mainThread.isBusy();

  /** Looks at the main thread as long as several accounts use it. */
  const followAccounts = () => {
    if (accounts.size > 1) return mainThread.watch();
    mainThread.stop();
    for (const { waiting } of accounts.values()) for (const begin of waiting) begin();
  };

  const requestsOf = (accountId: string): Requests => {
    const known = accounts.get(accountId);
    if (known) return known;
    const requests: Requests = {
      ...{ underWay: 0, hasArrived: false, several: 0 },
      ...{ waiting: new Set(), forget: undefined },
    };
    accounts.set(accountId, requests);
    followAccounts();
    return requests;
  };

  /** Ends a turn, and lets the requests of the account begin that may. */
  const release = (accountId: string): void => {
    const requests = requestsOf(accountId);
    requests.underWay--;
    for (const begin of requests.waiting) {
      if (requests.underWay > 0 && isCrowded()) break;
      begin();
    }
    clearTimeout(requests.forget);
    requests.forget = setTimeout(() => {
      if (requests.underWay > 0) return;
      accounts.delete(accountId);
      followAccounts();
    }, ACTIVE_MS);
  };

  /**
   * Notes whether an account has several requests at once. Some are answered before the next one is read: then they
   * arrive in one round of the event loop, in which nobody who waits for an answer can send another request.
   */
  const noteSeveral = (requests: Requests): void => {
    if (requests.underWay > 0 || requests.hasArrived) {
      requests.several = performance.now() + ACTIVE_MS;
    }
    if (requests.hasArrived || accounts.size < 2) return;
    requests.hasArrived = true;
    setImmediate(() => {
      requests.hasArrived = false;
    });
  };

  const take = async (work: object, accountId: string): Promise<boolean> => {
    if (begun.has(work)) return false;
    begun.set(work, null);
    const requests = requestsOf(accountId);
    noteSeveral(requests);
    const mustWait = requests.underWay > 0 && isCrowded();
    if (mustWait) {
      await new Promise<void>((resolve) => {
        const begin = () => {
          clearTimeout(timer);
          requests.waiting.delete(begin);
          requests.underWay++;
          resolve();
        };
        const timer = setTimeout(begin, patience);
        requests.waiting.add(begin);
      });
    } else requests.underWay++;
    begun.set(work, { accountId, began: performance.now(), parts: 1 });
    return mustWait;
  };

  const end = (work: object): void => {
    const turn = begun.get(work) ?? null;
    if (turn && --turn.parts > 0) return;
    begun.set(work, null);
    if (!turn) return;
    const { accountId, began } = turn;
    const rests = isHeavy(requestsOf(accountId)) && isCrowded();
    const isBesideLight = [...accounts.values()].some((other) => !isHeavy(other));
    const times = isBesideLight ? REST.besideLight : REST.besideOthers;
    const rest = Math.min(times * (performance.now() - began), REST_MS);
    if (rests) setTimeout(release, rest, accountId);
    else release(accountId);
  };

  /** Makes the turn of a request last until the returned function is called. */
  const prolong = (request: Request): (() => void) => {
    const turn = begun.get(request);
    if (!turn) return () => {};
    turn.parts++;
    return () => end(request);
  };

  const step = async <Result>(accountId: string, work: () => Promise<Result>): Promise<Result> => {
    const own = {};
    await take(own, accountId);
    try {
      return await work();
    } finally {
      end(own);
    }
  };

  return {
    /**
     * Waits for the turn of a request, which it has until it is answered. Further calls for the request do nothing.
     * @returns whether it had to wait
     */
    take,
    prolong,

    /** Does a step of a long answer, such as a page of an export, in a turn of its own. */
    step,

    /** Does work of a request whose answer may begin before the work is done, such as a stream: its turn lasts until both are. */
    async during<Result>(
      request: Request,
      accountId: string,
      work: () => Promise<Result>,
    ): Promise<Result> {
      if (!begun.get(request)) return step(accountId, work);
      const over = prolong(request);
      try {
        return await work();
      } finally {
        over();
      }
    },

    /** Ends the turn of each request when its answer begins. */
    endTurns:
      (handle: Handle) =>
      async (request: Request, ...rest: unknown[]) => {
        try {
          return await handle(request, ...rest);
        } finally {
          end(request);
        }
      },
  };
}
