import { join } from "node:path";
import { TARGETS } from "../../native/targets.ts";
import type { Release } from "./release-info.ts";

/** Writes the script that installs an executable of this release. */
export async function make({ repository, version, out }: Release): Promise<string[]> {
  const template = await Bun.file(join(import.meta.dir, "install.sh")).text();
  const filled = template
    .replaceAll("@REPOSITORY@", repository)
    .replaceAll("@VERSION@", version)
    .replaceAll("@GLIBC@", TARGETS["linux-x64"].glibc);
  const path = join(out, "install.sh");
  await Bun.write(path, filled);
  return [path];
}
