import type { Line } from "./budgets.ts";
import type { Moment } from "./latency.ts";

/** Search latency at one size, in milliseconds. */
export interface Growth {
  readonly memories: number;
  readonly fragments: number;
  readonly floorP50: number;
  readonly searchP50: number;
  readonly searchP95: number;
}

/** All that a run of the bench has found out. */
export interface Outcome {
  /** What was run: the executable or the checkout. */
  readonly subject: string;
  readonly machine: { readonly platform: string; readonly cpu: string; readonly cores: number };
  readonly lines: Line[];
  readonly growth: Growth[];
  /** The searches beside writes, for each size that was asked for. */
  readonly besideWrites: { memories: number; quiet: number; moments: Moment[] }[];
  /** Warnings and errors of the server. */
  readonly remarks: string[];
}
