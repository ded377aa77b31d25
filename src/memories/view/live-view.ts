import { createPause } from "../../timing/pause.ts";
import type { Outcome } from "../log/pending.ts";
import { type Filling, type FillingSource, startFilling } from "./filling.ts";
import type { View } from "./view.ts";

/** The view of a table. It is filled when it is first needed, and then follows every commit. */
export type LiveView = ReturnType<typeof createLiveView>;

/** @param create makes an empty view */
export function createLiveView(create: () => View) {
  let current: View | null = null;
  let filling: Filling | null = null;

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
    fill(
      memories: FillingSource["memories"],
      changes: FillingSource["changes"],
      after = 0,
    ): Promise<View> {
      if (filling) return filling.view;
      const mine = startFilling(create, { memories, changes, after }, (view) => {
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
