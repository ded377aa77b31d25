/** Milliseconds between two checks of a folder that another process has locked. */
const RECHECK_MS = 250;
/** Failed starts after which the search for a server fails. */
const MAX_FAILED_STARTS = 3;

/** A server that was started in the background. */
export interface StartedServer {
  /** Why the server ended without serving; pending while it runs. */
  readonly failure: Promise<string>;
}

/** Starts a server for a data folder when no process has locked the folder. */
export function createServerStarter({
  start,
  isServed,
  onFailure,
}: {
  start: () => StartedServer;
  isServed: () => boolean;
  onFailure: (reason: string) => void;
}) {
  let failures = 0;
  let lastReason = "";
  let isStarting = false;
  let nextCheck = 0;

  return {
    /** @throws Error with the last reason after several failed starts */
    startIfNeeded(now: number): void {
      if (isStarting || now < nextCheck) return;
      if (isServed()) {
        nextCheck = now + RECHECK_MS;
        return;
      }
      if (failures >= MAX_FAILED_STARTS) throw new Error(lastReason);
      isStarting = true;
      void start().failure.then((reason) => {
        isStarting = false;
        lastReason = reason;
        failures++;
        onFailure(reason);
      });
    },
  };
}
