import { randomUUID } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { moveFile } from "../system/files.ts";

/** What each file of a folder looked like when its content was last checked, by name. */
export type Stamp = Record<string, string>;

const NAME = "checked.json";

/** The stamp of a folder; empty when there is none or it is damaged, and then everything is checked. */
export async function readStamp(folder: string): Promise<Stamp> {
  const text = await readFile(join(folder, NAME), "utf8").catch(() => "{}");
  try {
    const stamp: unknown = JSON.parse(text);
    return isStamp(stamp) ? stamp : {};
  } catch {
    return {};
  }
}

/** Records that the files were checked. A folder that cannot be written is checked again next time. */
export async function writeStamp(folder: string, stamp: Stamp): Promise<void> {
  const temporary = join(folder, `.part-${randomUUID()}`);
  try {
    await writeFile(temporary, JSON.stringify(stamp), { mode: 0o600 });
    await moveFile(temporary, join(folder, NAME));
  } catch {
    await rm(temporary, { force: true }).catch(() => {});
  }
}

function isStamp(value: unknown): value is Stamp {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((entry) => typeof entry === "string")
  );
}
