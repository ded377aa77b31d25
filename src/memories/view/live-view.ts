import { createPause } from "../../timing/pause.ts";
import type { Outcome } from "../log/pending.ts";
import type { StoredMemory } from "../model/rows.ts";
import type { View } from "./view.ts";

/** The memories of a table: its base, and the changes since. */
interface FillingSource {
  /** The memories of the base. */
  memories: () => AsyncIterable<readonly StoredMemory[]>;
  /** The changes in the log; `null` for a removed memory. */
  changes: () => ReadonlyMap<string, StoredMemory | null>;
  /** When the filling begins; at once by default. */
  begin?: Promise<void> | undefined;
}

/**
 * Fills a view in the background.
 * @param create makes an empty view
 * @param onFilled receives the view in the same turn in which it becomes complete: a commit in between would be lost
 */
function startFilling(
  create: () => View,
  { memories, changes, begin }: FillingSource,
  onFilled: (view: View) => void,
) {
  /** Changes that the view lacks; `null` for a removed memory. */
  const newer = new Map<string, StoredMemory | null>();
  let isCancelled = false;

  const requireOpen = () => {
    if (isCancelled) throw new Error("the view was closed while it was being filled");
  };

  const fill = async (): Promise<View> => {
    if (begin) await begin;
    requireOpen();
    const view = create();
    try {
      const pause = createPause();
      const batches = memories();
      for (const [id, memory] of changes()) newer.set(id, memory);
      for await (const batch of batches) {
        for (const memory of batch) {
          if (!newer.has(memory.id)) view.put(memory);
          await pause();
        }
        requireOpen();
      }
      // Commits add to `newer` meanwhile.
      for (const [id, memory] of newer) {
        newer.delete(id);
        if (memory) view.put(memory);
        else view.remove(id);
        await pause();
      }
      requireOpen();
    } catch (error) {
      view.close();
      throw error;
    }
    onFilled(view);
    return view;
  };

  return {
    /** Rejects when filling fails or is cancelled. */
    view: fill(),

    /** Records a commit that is made meanwhile. It is applied at the end. */
    note({ written, removed }: Outcome): void {
      for (const memory of written) newer.set(memory.id, memory);
      for (const id of removed) newer.set(id, null);
    },

    cancel(): void {
      isCancelled = true;
    },
  };
}

/** The view of a table. It is filled when it is first needed, and then follows every commit. */
export type LiveView = ReturnType<typeof createLiveView>;

/** @param create makes an empty view */
export function createLiveView(create: () => View) {
  let current: View | null = null;
  let filling: ReturnType<typeof startFilling> | null = null;

  const stopFilling = () => {
    filling?.cancel();
    filling = null;
  };

  const close = () => {
    current?.close();
    current = null;
    stopFilling();
  };

  return {
    get current() {
      return current;
    },
    get isFilling() {
      return filling !== null;
    },

    /** Fills the view with the memories of the base, and with those that have changed since. */
    fill(source: FillingSource): Promise<View> {
      if (filling) return filling.view;
      const mine = startFilling(create, source, (view) => {
        current = view;
      });
      filling = mine;
      const end = () => {
        if (filling === mine) filling = null;
      };
      mine.view.then(end, end);
      return mine.view;
    },

    /** Applies a commit. A long text takes milliseconds, so other work gets its turn in between. */
    async apply(commit: Outcome): Promise<void> {
      filling?.note(commit);
      const pause = createPause();
      try {
        for (const id of commit.removed) {
          current?.remove(id);
          await pause();
        }
        for (const memory of commit.written) {
          current?.put(memory);
          await pause();
        }
      } catch {
        // There is no memory left for the view. Searches read the base and the log instead.
        close();
      }
    },

    /** Frees the memory of the view. Filling fails if it is under way. */
    close,
  };
}
