import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../../config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";

/** What to change of a quota; what is left out stays. */
interface QuotaChange {
  memories?: number | "none";
  bytes?: number | "none";
}

/** Adds `ctxd user quota`. */
export function define(user: Command, { configure }: Context): void {
  user
    .command("quota")
    .argument("<email>", "e-mail address of the account")
    .summary("show or set how much an account may keep")
    .description(
      "Shows how much an account may keep, or sets it from its next write on. Bytes are those of all text: contents, tags, names and metadata. What is there already stays.",
    )
    .option("--memories <number>", "how many memories at the most, or none for any", parseMost)
    .option("--bytes <number>", "how many bytes at the most (500k, 20M, 1G), or none", parseMost)
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
      `${account.email} may keep ${describe(memories, memories === 1 ? "memory" : "memories")} and ${describe(bytes, "bytes of text")}.`,
    );
  });
}

const MULTIPLES = new Map([
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
]);

/** A limit of a quota. */
function parseMost(text: string): number | "none" {
  if (text === "none") return text;
  const [, count, multiple = ""] = /^(\d{1,12})([kMG]?)$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (MULTIPLES.get(multiple) ?? 1);
  throw new InvalidArgumentError("Use a whole number, such as 10000 or 20M, or none.");
}
