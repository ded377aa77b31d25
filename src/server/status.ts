import { statfsSync } from "node:fs";
import { arch, type } from "node:os";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { type Environment, INSTALLED_BY } from "../config/settings.ts";
import type { ServerStatus } from "../dashboard/server-status.ts";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { messageOf } from "../errors.ts";
import type { Store } from "../memories/store/store.ts";
import { homeFolder } from "../system/folders.ts";
import type { ServerBackups } from "./backup-schedule.ts";
import { describeCommand, describeProgram } from "./invocation.ts";

/** Ways to install ctxd that keep the data out of reach of the local users' agents. */
const ISOLATED = ["image", "deb-service"];

/** Collects facts about the running server for the dashboard. */
export function createServerStatus({
  config,
  env,
  store,
  model,
  backups,
  clock,
}: {
  config: Config;
  env: Environment;
  store: Pick<Store, "lag">;
  model: EmbeddingModel;
  backups: Pick<ServerBackups, "change" | "createNow" | "isLate" | "list" | "settings" | "state">;
  clock: () => number;
}): ServerStatus {
  const { dataDir, shared } = config;
  const isForAgents = !shared && !ISOLATED.includes(env[INSTALLED_BY] ?? "");
  const startedAt = new Date(clock() - process.uptime() * 1_000);

  return {
    program: describeProgram(env, "anywhere"),
    command: (words) => describeCommand(words, config, env, "anywhere"),

    isForAgents,

    server: () => ({
      startedAt,
      platform: `Bun ${Bun.version} on ${type()} ${arch()}`,
      dataDir,
      database: shared ? "PostgreSQL" : "SQLite",
      model: model.id,
      memory: process.memoryUsage.rss(),
      disk: spaceOf(dataDir),
      lag: store.lag(),
    }),

    createBackup: backups.createNow,
    changeBackups: backups.change,

    async backups() {
      const settings = backups.settings();
      const facts = {
        isShared: shared !== null,
        schedule: settings && { ...settings, isLate: backups.isLate() },
        isFixed: config.backups !== null,
        recipients: config.backupRecipients,
        suggested: isForAgents ? join(homeFolder(env) ?? dataDir, "ctxd-backups") : "",
        ...backups.state(),
      };
      try {
        return { ...facts, complete: await backups.list(), problem: null };
      } catch (error) {
        return { ...facts, complete: [], problem: messageOf(error) };
      }
    },
  };
}

function spaceOf(folder: string) {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}
