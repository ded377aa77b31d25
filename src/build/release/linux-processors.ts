import type { TargetName } from "../../native/targets.ts";
import type { Release } from "./release-info.ts";

/** Names of the Linux targets' processors in Debian and in container images. */
const PROCESSORS = { "linux-x64": "amd64", "linux-arm64": "arm64" } as const satisfies Partial<
  Record<TargetName, string>
>;

type LinuxTarget = keyof typeof PROCESSORS;

/** The Linux executables of a release, each with the name of its processor. */
export function linuxExecutables({ executables }: Pick<Release, "executables">) {
  const targets: LinuxTarget[] = ["linux-x64", "linux-arm64"];
  return targets.flatMap((target) => {
    const executable = executables[target];
    return executable ? [{ target, executable, processor: PROCESSORS[target] }] : [];
  });
}
