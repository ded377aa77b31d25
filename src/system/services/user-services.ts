import { posix, win32 } from "node:path";
import { homeFolder, roamingFolder } from "../folders.ts";
import { launchd } from "./launchd.ts";
import type { ServiceSystem } from "./service-system.ts";
import { systemd } from "./systemd.ts";
import { taskScheduler } from "./task-scheduler.ts";

/** How this system runs services of a person; null for an unknown system. */
export function userServices(
  env: Readonly<Record<string, string | undefined>>,
  platform: string = process.platform,
): ServiceSystem | null {
  const home = homeFolder(env, platform);
  if (home === null) return null;
  if (platform === "linux") return systemd(home, env.XDG_CONFIG_HOME);
  if (platform === "darwin") return launchd(home, process.getuid?.() ?? 501);
  if (platform !== "win32") return null;
  const name = env.USERNAME ?? posix.basename(home.replaceAll("\\", "/"));
  const user = env.USERDOMAIN ? `${env.USERDOMAIN}\\${name}` : name;
  return taskScheduler(win32.join(roamingFolder(env, home), "ctxd"), user);
}
