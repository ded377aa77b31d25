/** Something that is open under a name, or about to be. */
export interface PoolItem<Opened> {
  readonly name: string;
  opened: Promise<Opened>;
  /** Once it is open. */
  now: Opened | null;
  users: number;
  /** Whether it is closed when its last user leaves. */
  hasEnded: boolean;
  closed: PromiseWithResolvers<void>;
}

/**
 * What is open, by name, in the order of last use. It is opened by its first user, and closed when it
 * has ended and the last user has left; whoever comes after it has ended opens it again.
 */
export function createPool<Opened>({
  open,
  close,
}: {
  open: (name: string) => Promise<Opened>;
  close: (opened: Opened) => Promise<void>;
}) {
  const slots = new Map<string, PoolItem<Opened>>();

  const enter = (name: string): PoolItem<Opened> => {
    const slot = slots.get(name) ?? newSlot(name);
    slots.delete(name);
    slots.set(name, slot);
    slot.users++;
    return slot;
  };

  const newSlot = (name: string): PoolItem<Opened> => {
    const slot: PoolItem<Opened> = {
      name,
      opened: Promise.resolve()
        .then(() => open(name))
        .then((opened) => {
          slot.now = opened;
          return opened;
        }),
      now: null,
      users: 0,
      hasEnded: false,
      closed: Promise.withResolvers(),
    };
    // The next user tries again.
    slot.opened.catch(() => slots.get(name) === slot && slots.delete(name));
    return slot;
  };

  const release = ({ now, closed }: PoolItem<Opened>) =>
    closed.resolve(now ? close(now) : undefined);

  return {
    enter,

    /** Keeps it open for a chore, which does not count as a use. */
    hold(slot: PoolItem<Opened>): void {
      slot.users++;
    },

    leave(slot: PoolItem<Opened>): void {
      slot.users--;
      if (slot.users === 0 && slot.hasEnded) release(slot);
    },

    end(slot: PoolItem<Opened>): void {
      if (slots.get(slot.name) === slot) slots.delete(slot.name);
      if (slot.hasEnded) return;
      slot.hasEnded = true;
      if (slot.users === 0) release(slot);
    },

    get size() {
      return slots.size;
    },
    has: (name: string): boolean => slots.has(name),

    /** The least recently used first. */
    all: (): PoolItem<Opened>[] => [...slots.values()],
  };
}
