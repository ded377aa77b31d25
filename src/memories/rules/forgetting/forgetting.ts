import { version } from "../../../../package.json" with { type: "json" };
import { type Reach, requireScope } from "../../../keys/reach.ts";
import { wasCaptured } from "../../model/filter.ts";
import { type Forget, leavesFilesBy, type Receipt } from "../../model/forgetting.ts";
import { mayWrite } from "../../model/reach.ts";
import type { Store } from "../../store/store.ts";
import type { Reading } from "../reading.ts";
import { findReadable } from "../visible.ts";
import type { createWriting } from "../writing.ts";
import { createAbout } from "./about.ts";

/** Milliseconds between two looks whether deleted data has left the files, and the longest wait. */
const LOOK_MS = 250;
const LONGEST_WAIT_MS = 120_000;

interface Parts
  extends Pick<Reading, "search">,
    Pick<ReturnType<typeof createWriting>, "removeMatching"> {
  store: Pick<Store, "use">;
  clock: () => number;
}

/** Forgetting what is about a person or a subject, with a receipt; see `createMemories`. */
export function createForgetting({ store, clock, search, removeMatching }: Parts) {
  const hasRemains = (reach: Reach) =>
    store.use(reach.accountId, async (open) => open.hasRemains());

  /** The receipt, with the time at which the files were seen to have no deleted data; unchanged if they may have some, or if nobody knows. */
  const checkFiles = async (reach: Reach, receipt: Receipt): Promise<Receipt> => {
    if (receipt.left_files_at !== null || (await hasRemains(reach)) !== false) return receipt;
    return { ...receipt, left_files_at: new Date(clock()).toISOString() };
  };

  return {
    about: createAbout({ store, clock, search }),
    checkFiles,

    /** Removes memories by their ids. Their histories are mended. @returns the receipt @throws AppError `forbidden` */
    async forget(
      reach: Reach,
      { ids, about = null }: Omit<Forget, "about"> & { about?: string | null | undefined },
    ): Promise<Receipt> {
      // The receipt tells of the memories.
      requireScope(reach, "memories:read");
      requireScope(reach, "memories:write");
      const askedAt = clock();
      const found = await findReadable(store, reach, ids, askedAt);
      const rows = found.filter((row) => mayWrite(reach, row));
      const only = rows.map(({ id }) => id);
      const deleted = only.length === 0 ? 0 : await removeMatching(reach, { only });
      const deletedAt = clock();
      return {
        version,
        account: reach.accountId,
        by: reach.credential?.by ?? null,
        about,
        deleted,
        captured: rows.filter(wasCaptured).length,
        superseded: rows.filter(({ supersededBy }) => supersededBy !== null).length,
        asked_at: new Date(askedAt).toISOString(),
        deleted_at: new Date(deletedAt).toISOString(),
        leaves_files_by: new Date(leavesFilesBy(deletedAt)).toISOString(),
        left_files_at: null,
      };
    },

    /** Waits until deleted data has left the files, two minutes at most, or not at all where nobody knows. @returns the checked receipt */
    async waitForFiles(reach: Reach, receipt: Receipt): Promise<Receipt> {
      const until = performance.now() + LONGEST_WAIT_MS;
      while (
        (await hasRemains(reach)) === true &&
        performance.now() < until &&
        !reach.signal?.aborted
      ) {
        await Bun.sleep(LOOK_MS);
      }
      return await checkFiles(reach, receipt);
    },
  };
}
