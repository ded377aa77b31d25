import { isOf, readPeriod } from "../period.ts";
import type { Kind } from "./kind.ts";

const NONE = [0] as const;

/** Whether a memory is from the time that the question names. */
export const time: Kind = {
  part: "time",
  names: ["period"],
  read({ text, now }) {
    const period = readPeriod(text, now);
    if (period === null) return () => NONE;
    return ({ memory }) => [isOf(period, memory.createdAt) ? 1 : 0];
  },
};
