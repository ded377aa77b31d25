/** Tasks that run at once: most of their time is spent waiting for a disk or another server. */
const AT_ONCE = 8;

/**
 * Runs a task for each item, several at once. After a failure it starts no more tasks, waits for the running ones and
 * throws the first error.
 */
export async function forEachAtOnce<Item>(
  items: readonly Item[],
  task: (item: Item) => Promise<void>,
  atOnce = AT_ONCE,
): Promise<void> {
  const waiting = items.values();
  const failures: unknown[] = [];
  const work = async () => {
    for (const item of waiting) {
      if (failures.length > 0) return;
      await task(item).catch((error) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}
