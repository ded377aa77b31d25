import type { Position, SharedLog } from "../log/shared-log.ts";

interface Asked {
  running: Promise<unknown>;
  next: Promise<Position | null> | null;
}

/**
 * Reads how accounts' tables stand. Those who ask while the same account is being asked for share one
 * statement, which begins after all of them have asked.
 */
export function createPositions(log: Pick<SharedLog, "position">) {
  const asked = new Map<string, Asked>();

  const ask = (accountId: string): Promise<Position | null> => {
    const running = log.position(accountId);
    const mine: Asked = { running, next: null };
    asked.set(accountId, mine);
    const done = () => {
      if (mine.next === null && asked.get(accountId) === mine) asked.delete(accountId);
    };
    running.then(done, done);
    return running;
  };

  return (accountId: string): Promise<Position | null> => {
    const present = asked.get(accountId);
    if (!present) return ask(accountId);
    present.next ??= present.running.then(
      () => ask(accountId),
      () => ask(accountId),
    );
    return present.next;
  };
}
