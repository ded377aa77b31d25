/** @jsxRuntime automatic @jsxImportSource #pages */
import { Copyable } from "../../pages/button.tsx";
import { Problem } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import type { SecurityRecord } from "../../security-log/event-store.ts";
import { EVENTS } from "../../security-log/events.ts";
import { quoteForShell } from "../../system/shell.ts";
import { AdminTabs, BACKUPS_PATH, HELP_PATH } from "../navigation.tsx";
import { Fact, Page, Setting, TimeFact } from "../page.tsx";
import type { BackupFacts } from "../server-status.ts";
import type { Visit } from "../session.ts";

const MINUTE = 60_000;
const MAX_BACKUPS = 30;

/** The page of backups: the schedule, the existing backups, and how to restore one. */
export function BackupsPage({
  visit,
  facts,
  events,
  program,
  backup,
}: {
  visit: Visit;
  /** Null if the program does not report them. */
  facts: BackupFacts | null;
  /** Backups and restores in the security log, newest first. */
  events: readonly SecurityRecord[];
  /** The command to type instead of `ctxd`. */
  program: string;
  /** The command that makes a backup of this server's data. */
  backup: string;
}) {
  const schedule = facts?.schedule ?? null;
  const newest = facts?.complete[0] ?? null;
  return (
    <Page
      visit={visit}
      section="admin"
      title="Backups"
      above={<AdminTabs current={BACKUPS_PATH} />}
      actions={
        schedule && (
          <span class={schedule.isLate ? "state failed" : "state well"}>
            {schedule.isLate ? "Late" : "On schedule"}
          </span>
        )
      }
    >
      {facts?.problem != null && <Problem>{facts.problem}</Problem>}
      {facts === null || schedule === null ? (
        <NoSchedule isShared={facts?.isShared ?? false} />
      ) : (
        <ScheduleFacts {...schedule} newest={newest?.at ?? null} />
      )}
      {facts !== null && facts.complete.length > 0 && (
        <Setting
          id="kept"
          title={`Kept: ${facts.complete.length}`}
          about="The server verified each backup after writing it."
        >
          <Table
            caption="Backups of the schedule"
            rows={facts.complete.slice(0, MAX_BACKUPS)}
            columns={[
              { title: "Time", cell: ({ at }) => <Moment at={new Date(at)} /> },
              { title: "Folder", cell: ({ folder }) => <code>{folder}</code> },
            ]}
          />
        </Setting>
      )}
      <Setting id="by-hand" title="By hand" about="You can run this while the server runs.">
        <Copyable text={backup} label="the command that makes a backup" />
      </Setting>
      <Setting
        id="restore"
        title="Restore"
        about={
          <>
            Restores into an empty folder. The running server is not changed.{" "}
            <a href={`${HELP_PATH}/back-up`}>What a restore brings back</a>
          </>
        }
      >
        <Copyable
          text={[
            `${program} restore ${newest === null ? "FOLDER" : quoteForShell(newest.folder)}`,
            "--data-dir NEW_FOLDER",
            ...(schedule?.isEncrypted ? ["--identity key.txt"] : []),
          ].join(" ")}
          label="the command that restores"
        />
      </Setting>
      {events.length > 0 && (
        <Setting
          id="events"
          title="History"
          about="Backups and restores by the schedule and by commands."
        >
          <Table
            caption="Backups made and restored"
            rows={events}
            columns={[
              { title: "Event", cell: ({ event }) => EVENTS[event]?.label },
              { title: "When", cell: ({ at }) => <Moment at={at} /> },
              { title: "By", cell: ({ via }) => (via === "server" ? "Schedule" : "Command") },
            ]}
          />
        </Setting>
      )}
    </Page>
  );
}

function NoSchedule({ isShared }: { isShared: boolean }) {
  return (
    <Setting id="schedule" title="Schedule">
      <p>
        {isShared ? (
          "Several servers share this data, so none of them makes backups. Run the command below from a timer."
        ) : (
          <>
            There are no scheduled backups. Set <code>CTXD_BACKUP_DIR</code> to a folder, preferably
            on another disk. The server then makes a backup every day and keeps seven.
          </>
        )}
      </p>
    </Setting>
  );
}

function ScheduleFacts({
  folder,
  every,
  keep,
  isEncrypted,
  newest,
}: NonNullable<BackupFacts["schedule"]> & { newest: number | null }) {
  return (
    <Setting
      id="schedule"
      title="Schedule"
      about="The settings are CTXD_BACKUP_DIR, CTXD_BACKUP_EVERY and CTXD_BACKUP_KEEP."
    >
      <dl>
        <Fact name="Every">{spanText(every)}</Fact>
        <Fact name="Keeps">{keep === 1 ? "the newest" : `the newest ${keep}`}</Fact>
        <TimeFact name="Last" at={newest === null ? null : new Date(newest)} none="none yet" />
        <Fact name="Next due">
          {newest === null ? "now" : <Moment at={new Date(newest + every)} />}
        </Fact>
        <Fact name="Folder">
          <code>{folder}</code>
        </Fact>
        <Fact name="Encrypted">{isEncrypted ? "yes" : "no"}</Fact>
      </dl>
    </Setting>
  );
}

/** A duration in the largest unit that divides it: `12 hours`. */
function spanText(milliseconds: number): string {
  const minutes = Math.round(milliseconds / MINUTE);
  const units = [
    [7 * 24 * 60, "week"],
    [24 * 60, "day"],
    [60, "hour"],
    [1, "minute"],
  ] as const;
  for (const [size, unit] of units) {
    if (minutes % size !== 0) continue;
    const count = minutes / size;
    return count === 1 ? unit : `${count} ${unit}s`;
  }
  return `${minutes} minutes`;
}
