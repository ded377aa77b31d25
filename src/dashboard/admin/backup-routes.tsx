/** @jsxRuntime automatic @jsxImportSource #pages */
import { BackupError } from "../../backup/backup-error.ts";
import type { ScheduleSettings } from "../../backup/schedule-settings.ts";
import { AppError } from "../../errors.ts";
import { pageResponse } from "../../pages/page-response.tsx";
import { BACKUPS_PATH } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { ServerStatus } from "../server-status.ts";
import type { Visit } from "../session.ts";
import { BackupsPage } from "./backups-page.tsx";

/** Backups and restores shown from the security log. */
const MAX_EVENTS = 10;
/** Milliseconds to wait for a backup, so that the page shows the result of a short one at once. */
const PATIENCE_MS = 1_500;
/** Seconds after which the page of a running backup loads again. */
const REFRESH = "2";

/** The owner's page of backups: makes one, and changes the schedule. */
export function addBackupsPage({ pages, serverStatus, securityLog, record }: Parts): void {
  const listEvents = async () => {
    const [made, restored] = await Promise.all(
      (["backup_created", "backup_restored"] as const).map((event) =>
        securityLog.list(null, { event }, { limit: MAX_EVENTS, before: null }),
      ),
    );
    const newestFirst = [...(made ?? []), ...(restored ?? [])].sort((a, b) => b.id - a.id);
    return newestFirst.slice(0, MAX_EVENTS);
  };

  /** @throws AppError if the program makes no backups by itself */
  const server = (): ServerStatus => {
    if (serverStatus) return serverStatus;
    throw new AppError("conflict", "This server makes no backups by itself.");
  };

  /** Begins a backup. Returns a notice if it is complete soon. */
  const backUpNow = async (): Promise<{ notice?: string }> => {
    const ended = server().createBackup();
    const isEnded = await Promise.race([ended.then(() => true), Bun.sleep(PATIENCE_MS)]);
    const { failure } = await server().backups();
    return isEnded === true && failure === null ? { notice: "The backup is complete." } : {};
  };

  const render = async (visit: Visit, entered?: { problem: string; form: URLSearchParams }) => {
    const facts = (await serverStatus?.backups()) ?? null;
    const command = (words: string) => serverStatus?.command(words) ?? `ctxd ${words}`;
    const program = serverStatus?.program ?? "ctxd";
    const events = await listEvents();
    return <BackupsPage {...{ visit, facts, events, program, command }} {...entered} />;
  };

  pages.owner.get(BACKUPS_PATH, async (visit) => {
    const page = await render(visit);
    const isRunning = (await serverStatus?.backups())?.running != null;
    return isRunning ? pageResponse(page, { scripts: true, headers: { refresh: REFRESH } }) : page;
  });

  pages.owner.post(`${BACKUPS_PATH}/now`, async () => {
    const { schedule, isShared } = await server().backups();
    if (schedule === null) {
      throw new AppError(
        "conflict",
        isShared
          ? "Several servers share this data, so none of them makes backups: run ctxd backup."
          : "Choose the folder for backups first.",
      );
    }
    return { to: BACKUPS_PATH, ...(await backUpNow()) };
  });

  pages.provedOwner.post(
    `${BACKUPS_PATH}/schedule`,
    async (visit, form) => {
      const { isShared, isFixed, schedule } = await server().backups();
      if (isShared || isFixed)
        throw new AppError("conflict", "The schedule can't be changed here.");
      const wanted = form.has("none") ? null : settingsOf(form);
      await server()
        .changeBackups(wanted)
        .catch((error: unknown) => {
          if (!(error instanceof BackupError)) throw error;
          throw new AppError("validation_failed", error.message, { cause: error });
        });
      const subject = wanted?.folder ?? null;
      record(visit.request, "backups_changed", { accountId: visit.account.id, subject });
      if (wanted && schedule === null) return { to: BACKUPS_PATH, ...(await backUpNow()) };
      const notice = wanted ? "The schedule is saved." : "The server makes no more backups.";
      return { to: BACKUPS_PATH, notice };
    },
    (visit, problem, form) => render(visit, { problem, form }),
  );
}

/** @throws AppError `validation_failed` */
function settingsOf(form: URLSearchParams): ScheduleSettings {
  const [hours, keep] = [Number(form.get("hours")), Number(form.get("keep"))];
  if (!Number.isInteger(keep) || keep < 1 || keep > 9999) {
    throw new AppError("validation_failed", "Keep at least one backup, and at most 9999.");
  }
  if (!Number.isFinite(hours) || hours < 0 || hours > 10_000) {
    throw new AppError("validation_failed", "Choose how often to back up.");
  }
  return {
    folder: form.get("folder")?.trim() ?? "",
    every: hours === 0 ? null : Math.max(60_000, Math.round(hours * 3_600_000)),
    keep,
    recipients: (form.get("recipients") ?? "").split(/[\s,]+/).filter(Boolean),
  };
}
