import type { Position, SharedLog } from "../log/shared-log.ts";

interface Query {
  running: Promise<unknown>;
  next: Promise<Position | null> | null;
}

/**
 * Reads the positions of accounts. Callers that arrive while a query for the same account runs share the
 * next query, which begins after all of them have called.
 */
export function createPositions(log: Pick<SharedLog, "position">) {
  const queries = new Map<string, Query>();

  const read = (accountId: string): Promise<Position | null> => {
    const running = log.position(accountId);
    const query: Query = { running, next: null };
    queries.set(accountId, query);
    const done = () => {
      if (query.next === null && queries.get(accountId) === query) queries.delete(accountId);
    };
    running.then(done, done);
    return running;
  };

  return (accountId: string): Promise<Position | null> => {
    const present = queries.get(accountId);
    if (!present) return read(accountId);
    present.next ??= present.running.then(
      () => read(accountId),
      () => read(accountId),
    );
    return present.next;
  };
}
