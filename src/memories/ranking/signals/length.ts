import type { Kind } from "./kind.ts";

/** Characters below which a text says little, less the shorter it is ("See you soon!"). */
const SHORT = 80;

export const length: Kind = {
  part: "length",
  names: ["short"],
  read:
    () =>
    ({ memory }) => [Math.max(0, 1 - memory.content.length / SHORT)],
};
