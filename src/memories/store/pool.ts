/** A resource that is open under a name, or is being opened. */
export interface PoolItem<Value> {
  readonly name: string;
  opening: Promise<Value>;
  /** `null` until it is open. */
  value: Value | null;
  users: number;
  /** Whether it closes when its last user releases it. */
  isRetired: boolean;
  closed: PromiseWithResolvers<void>;
}

/**
 * Open resources by name, in the order of last use. The first user opens a resource. A retired one closes
 * when its last user has released it; the next user then opens it again.
 */
export function createPool<Value>({
  open,
  close,
}: {
  open: (name: string) => Promise<Value>;
  close: (value: Value) => Promise<void>;
}) {
  const items = new Map<string, PoolItem<Value>>();

  const acquire = (name: string): PoolItem<Value> => {
    const item = items.get(name) ?? newItem(name);
    items.delete(name);
    items.set(name, item);
    item.users++;
    return item;
  };

  const newItem = (name: string): PoolItem<Value> => {
    const item: PoolItem<Value> = {
      name,
      opening: Promise.resolve()
        .then(() => open(name))
        .then((value) => {
          item.value = value;
          return value;
        }),
      value: null,
      users: 0,
      isRetired: false,
      closed: Promise.withResolvers(),
    };
    // The next user tries again.
    item.opening.catch(() => items.get(name) === item && items.delete(name));
    return item;
  };

  const closeItem = ({ value, closed }: PoolItem<Value>) =>
    closed.resolve(value ? close(value) : undefined);

  const release = (item: PoolItem<Value>): void => {
    item.users--;
    if (item.users === 0 && item.isRetired) closeItem(item);
  };

  return {
    /** Runs a task on an item, which stays open meanwhile. The task waits for `opening` itself. */
    async use<Result>(
      name: string,
      task: (item: PoolItem<Value>) => Promise<Result>,
    ): Promise<Result> {
      const item = acquire(name);
      try {
        return await task(item);
      } finally {
        release(item);
      }
    },

    /** Keeps an item open until a task ends, without counting as a use. */
    async hold<Result>(item: PoolItem<Value>, task: () => Promise<Result>): Promise<Result> {
      item.users++;
      try {
        return await task();
      } finally {
        release(item);
      }
    },

    /** Closes an item as soon as nobody uses it. */
    retire(item: PoolItem<Value>): void {
      if (items.get(item.name) === item) items.delete(item.name);
      if (item.isRetired) return;
      item.isRetired = true;
      if (item.users === 0) closeItem(item);
    },

    get size() {
      return items.size;
    },
    get: (name: string): PoolItem<Value> | undefined => items.get(name),

    /** The least recently used first. */
    all: (): PoolItem<Value>[] => [...items.values()],
  };
}
