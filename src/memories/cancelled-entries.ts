import { closeSync, constants, fsyncSync, openSync, readSync, writeSync } from "node:fs";

/** Entries that the file holds, each as eight bytes. No table has more than one at a time. */
const SLOTS = 512;

/**
 * Numbers of journal entries that count for nothing, in a file whose space was taken in advance: on
 * a full disk the database can't remove an entry whose write failed in the table, and a restart
 * would make it true.
 * @throws the file system's error when there is no space for the file
 */
export function openCancelledEntries(path: string) {
  const slots = new BigUint64Array(SLOTS);
  // Opened anew each time: a journal has no end at which a file could be closed.
  const withFile = (use: (file: number) => void) => {
    const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      use(file);
    } finally {
      closeSync(file);
    }
  };
  const save = () =>
    withFile((file) => {
      writeSync(file, slots, 0, slots.byteLength, 0);
      fsyncSync(file);
    });
  withFile((file) => readSync(file, slots, 0, slots.byteLength, 0));
  // Takes the space, which is there already unless this is the first time.
  save();

  return {
    has: (seq: number): boolean => slots.includes(BigInt(seq)),

    /** Makes it durable that an entry counts for nothing. */
    add(seq: number): void {
      const free = slots.indexOf(0n);
      if (free < 0) throw new RangeError("too many entries are cancelled");
      slots[free] = BigInt(seq);
      save();
    },

    /** Forgets the entries that are in the journal no more. */
    keepOnly(isThere: (seq: number) => boolean): void {
      const stale = slots.findIndex((seq) => seq !== 0n && !isThere(Number(seq)));
      if (stale < 0) return;
      slots.forEach((seq, slot) => {
        if (seq !== 0n && !isThere(Number(seq))) slots[slot] = 0n;
      });
      save();
    },
  };
}
