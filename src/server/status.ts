import { statfsSync } from "node:fs";
import { arch, type } from "node:os";
import type { Schedule } from "../backup/schedule.ts";
import type { Config } from "../config/config.ts";
import { type Environment, INSTALLED_BY } from "../config/settings.ts";
import type { ServerStatus } from "../dashboard/server-status.ts";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { messageOf } from "../errors.ts";
import type { Store } from "../memories/store/store.ts";
import { describeCommand, describeProgram } from "./invocation.ts";

/** Ways to install ctxd that keep the data out of reach of the local users' agents. */
const ISOLATED = ["image", "deb-service"];

/** Collects facts about the running server for the dashboard. */
export function createServerStatus({
  config,
  env,
  store,
  model,
  schedule,
  clock,
}: {
  config: Config;
  env: Environment;
  store: Pick<Store, "lag">;
  model: EmbeddingModel;
  /** Null without scheduled backups. */
  schedule: Pick<Schedule, "isLate" | "list"> | null;
  clock: () => number;
}): ServerStatus {
  const { dataDir, shared, backups, backupRecipients } = config;
  const startedAt = new Date(clock() - process.uptime() * 1_000);

  return {
    program: describeProgram(env, "anywhere"),
    command: (words) => describeCommand(words, config, env, "anywhere"),

    isForAgents: !shared && !ISOLATED.includes(env[INSTALLED_BY] ?? ""),

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

    async backups() {
      const isShared = shared !== null;
      if (!backups || !schedule) {
        return { isShared, schedule: null, complete: [], problem: null };
      }
      const isEncrypted = backupRecipients.length > 0;
      const own = { ...backups, isEncrypted, isLate: schedule.isLate() };
      try {
        return { isShared, schedule: own, complete: await schedule.list(), problem: null };
      } catch (error) {
        return { isShared, schedule: own, complete: [], problem: messageOf(error) };
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
