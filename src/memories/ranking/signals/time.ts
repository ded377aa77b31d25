import { isOf, readPeriod } from "../period.ts";
import type { Kind } from "./kind.ts";

const NONE = [0] as const;

/** Whether a memory is of the time that is asked about, where anything that was found is. */
export const time: Kind = {
  part: "time",
  names: ["period"],
  read({ text, now }, all) {
    const period = readPeriod(text, now);
    if (period === null || !all.some(({ memory }) => isOf(period, memory.createdAt))) {
      return () => NONE;
    }
    return ({ memory }) => [isOf(period, memory.createdAt) ? 1 : 0];
  },
};
