import { type Command, InvalidArgumentError } from "commander";
import { parseSize } from "../config/setting-values.ts";
import type { Facts } from "../security-log/events.ts";
import type { Stores } from "./stores.ts";
import { say } from "./terminal.ts";

/** The limits to change; the others stay. */
export interface QuotaChange {
  memories?: number | "none";
  bytes?: number | "none";
}

/** Adds the options of a command that sets a quota. */
export function quotaOptions(command: Command): Command {
  return command
    .option("--memories <number>", "the largest number of memories, or none for no limit", parseMax)
    .option("--bytes <number>", "the largest number of bytes (500k, 20M, 1G), or none", parseMax);
}

function parseMax(text: string): number | "none" {
  const limit = text === "none" ? text : parseSize(text);
  if (limit !== null) return limit;
  throw new InvalidArgumentError("Use a whole number, such as 10000 or 20M, or none.");
}

/** Changes the quota of an account or a space, if there is something to change, and says what it is. */
export async function changeQuota(
  { quotas, record }: Pick<Stores, "quotas" | "record">,
  { id, name, facts }: { id: string; name: string; facts: Omit<Facts, "via"> },
  change: QuotaChange,
): Promise<void> {
  const present = await quotas.of(id);
  const next = (wanted: number | "none" | undefined, now: number | null = null) =>
    wanted === "none" ? null : (wanted ?? now);
  const memories = next(change.memories, present?.memories);
  const bytes = next(change.bytes, present?.bytes);
  if (Object.keys(change).length > 0) {
    await quotas.set(id, { memories, bytes });
    record("quota_changed", facts);
  }
  const describe = (most: number | null, noun: string) => `${most ?? "any number of"} ${noun}`;
  say(
    `${name} may store ${describe(memories, memories === 1 ? "memory" : "memories")} and ${describe(bytes, "bytes of text")}.`,
  );
}
