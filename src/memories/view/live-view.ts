import { createPause } from "../../pause.ts";
import type { Outcome } from "../log/pending.ts";
import type { StoredMemory } from "../rows.ts";
import type { View } from "./view.ts";

/** The view of a table: filled when it is first needed, and following every commit from then on. */
export type LiveView = ReturnType<typeof createLiveView>;

/** @param create makes an empty one */
export function createLiveView(create: () => View) {
  let current: View | null = null;
  let filling: Promise<View> | null = null;
  /** While it is being filled: what changed and is not in it yet; `null` for what was removed. */
  let late = new Map<string, StoredMemory | null>();

  const fill = async (
    memories: () => AsyncIterable<readonly StoredMemory[]>,
    changes: () => ReadonlyMap<string, StoredMemory | null>,
    after: number,
  ) => {
    const mine = new Map<string, StoredMemory | null>();
    late = mine;
    const requireOpen = () => {
      if (late !== mine) throw new Error("the view was closed while it was being filled");
    };
    let view: View | null = null;
    try {
      if (after > 0) await Bun.sleep(after);
      requireOpen();
      view = create();
      const pause = createPause();
      const batches = memories();
      for (const [id, memory] of changes()) mine.set(id, memory);
      for await (const batch of batches) {
        for (const memory of batch) {
          if (!mine.has(memory.id)) view.put(memory);
          await pause();
        }
        requireOpen();
      }
      // Commits add to it meanwhile.
      for (const [id, memory] of mine) {
        mine.delete(id);
        if (memory) view.put(memory);
        else view.remove(id);
        await pause();
      }
      requireOpen();
      current = view;
      return view;
    } catch (error) {
      view?.close();
      throw error;
    } finally {
      if (late === mine) stopFilling();
    }
  };

  const stopFilling = () => {
    late = new Map();
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

    /**
     * Fills it with the memories of the base, but for those that have changed since, and with these.
     * @param changes of the log
     * @param after milliseconds to wait before
     */
    fill(
      memories: () => AsyncIterable<readonly StoredMemory[]>,
      changes: () => ReadonlyMap<string, StoredMemory | null>,
      after = 0,
    ): Promise<View> {
      filling ??= fill(memories, changes, after);
      return filling;
    },

    /** Brings a commit into it. A long text takes milliseconds: others have their turn between. */
    async apply({ written, removed }: Outcome): Promise<void> {
      if (filling) {
        for (const memory of written) late.set(memory.id, memory);
        for (const id of removed) late.set(id, null);
      }
      const pause = createPause();
      try {
        for (const id of removed) {
          current?.remove(id);
          await pause();
        }
        for (const memory of written) {
          current?.put(memory);
          await pause();
        }
      } catch {
        // There is no memory left for it. What it lacks is in the base and the log, which are read then.
        close();
      }
    },

    /** Gives its memory back. One that is being filled fails. */
    close,
  };
}
