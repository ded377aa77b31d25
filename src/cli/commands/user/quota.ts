import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";

/** The limits to change; the others stay. */
interface QuotaChange {
  memories?: number | "none";
  bytes?: number | "none";
}

/** Adds `ctxd user quota`. */
export function defineQuota(user: Command, { configure }: Context): void {
  user
    .command("quota")
    .argument("<email>", "e-mail address of the account")
    .summary("show or set how much an account may store")
    .description(
      "Shows how much an account may store, or sets it. Bytes are those of all text: contents, tags, names and metadata. A new limit applies to later writes; stored memories stay.",
    )
    .option("--memories <number>", "the largest number of memories, or none for no limit", parseMax)
    .option("--bytes <number>", "the largest number of bytes (500k, 20M, 1G), or none", parseMax)
    .addHelpText("after", examples("ctxd user quota you@example.com --memories 10000"))
    .action((email: string, options: QuotaChange) => changeQuota(configure(), email, options));
}

/** `ctxd user quota EMAIL` */
async function changeQuota(config: Config, email: string, change: QuotaChange): Promise<void> {
  await withStores(config, async ({ accounts, quotas, record }) => {
    const account = await requireAccount(accounts, email);
    const present = await quotas.of(account.id);
    const next = (wanted: number | "none" | undefined, now: number | null = null) =>
      wanted === "none" ? null : (wanted ?? now);
    const memories = next(change.memories, present?.memories);
    const bytes = next(change.bytes, present?.bytes);
    if (Object.keys(change).length > 0) {
      await quotas.set(account.id, { memories, bytes });
      record("quota_changed", { accountId: account.id });
    }
    const describe = (most: number | null, noun: string) => `${most ?? "any number of"} ${noun}`;
    say(
      `${account.email} may store ${describe(memories, memories === 1 ? "memory" : "memories")} and ${describe(bytes, "bytes of text")}.`,
    );
  });
}

const MULTIPLES = new Map([
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
]);

/** Parses a limit. */
function parseMax(text: string): number | "none" {
  if (text === "none") return text;
  const [, count, multiple = ""] = /^(\d{1,12})([kMG]?)$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (MULTIPLES.get(multiple) ?? 1);
  throw new InvalidArgumentError("Use a whole number, such as 10000 or 20M, or none.");
}
