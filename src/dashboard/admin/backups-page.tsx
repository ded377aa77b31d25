/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, Copyable } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Problem } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { Table } from "../../pages/table.tsx";
import type { SecurityRecord } from "../../security-log/event-store.ts";
import { EVENTS } from "../../security-log/events.ts";
import { quoteForShell } from "../../system/shell.ts";
import { AdminTabs, BACKUPS_PATH, HELP_PATH } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import type { BackupFacts } from "../server-status.ts";
import type { Visit } from "../session.ts";
import { ScheduleFacts, ScheduleSetting } from "./backup-schedule.tsx";

const MAX_BACKUPS = 30;

/** The page of backups: makes one, the schedule, the existing backups, and how to restore one. */
export function BackupsPage({
  visit,
  facts,
  events,
  program,
  command,
  problem,
  form,
}: {
  visit: Visit;
  /** Null if the program does not report them. */
  facts: BackupFacts | null;
  /** Backups and restores in the security log, newest first. */
  events: readonly SecurityRecord[];
  /** The command to type instead of `ctxd`. */
  program: string;
  /** The command for this server's data, as it is typed. */
  command: (words: string) => string;
  /** Why the submitted schedule was refused, and what was submitted. */
  problem?: string;
  form?: URLSearchParams;
}) {
  const schedule = facts?.schedule ?? null;
  const newest = facts?.complete[0] ?? null;
  return (
    <Page
      visit={visit}
      section="admin"
      title="Backups"
      above={<AdminTabs current={BACKUPS_PATH} />}
      problem={problem}
      actions={
        schedule && (
          <>
            {schedule.every !== null && (
              <span class={schedule.isLate ? "state failed" : "state well"}>
                {schedule.isLate ? "Late" : "On schedule"}
              </span>
            )}
            {facts?.running == null && (
              <PostForm action={`${BACKUPS_PATH}/now`} token={visit.token}>
                <Button kind="main">Back up now</Button>
              </PostForm>
            )}
          </>
        )
      }
    >
      {facts !== null && <State {...facts} />}
      {schedule && (
        <ScheduleFacts
          {...schedule}
          isFixed={facts?.isFixed ?? false}
          newest={newest?.at ?? null}
        />
      )}
      <ScheduleSetting visit={visit} facts={facts} form={form} />
      {facts !== null && facts.complete.length > 0 && (
        <Setting
          id="kept"
          title={`Kept: ${facts.complete.length}`}
          about="The server verified each backup after writing it."
        >
          <Table
            caption="Backups of the server"
            rows={facts.complete.slice(0, MAX_BACKUPS)}
            columns={[
              { title: "Time", cell: ({ at }) => <Moment at={new Date(at)} /> },
              { title: "Folder", cell: ({ folder }) => <code>{folder}</code> },
            ]}
          />
        </Setting>
      )}
      <Setting
        id="by-hand"
        title="In a terminal"
        about="A backup into a new folder, also while the server runs."
      >
        <Copyable text={command("backup FOLDER")} label="the command that makes a backup" />
      </Setting>
      <Restore
        program={program}
        folder={newest?.folder ?? null}
        isEncrypted={(schedule?.recipients.length ?? 0) > 0}
      />
      {events.length > 0 && (
        <Setting
          id="events"
          title="History"
          about="Backups and restores by the server and by commands."
        >
          <Table
            caption="Backups made and restored"
            rows={events}
            columns={[
              { title: "Event", cell: ({ event }) => EVENTS[event]?.label },
              { title: "When", cell: ({ at }) => <Moment at={at} /> },
              { title: "By", cell: ({ via }) => (via === "server" ? "Server" : "Command") },
            ]}
          />
        </Setting>
      )}
    </Page>
  );
}

/** The backup that is being made, or why the last one failed. */
function State({ running, failure, problem }: BackupFacts) {
  const done = running?.done ?? null;
  return (
    <>
      {running !== null && (
        <div class="progress" role="status">
          <p class="step">
            <span>
              Making a backup
              {done && `: ${done.step}, ${done.count} of ${done.total}`}
            </span>
            <progress
              aria-label="Progress"
              {...(done && { value: `${done.count}`, max: `${Math.max(1, done.total)}` })}
            />
          </p>
        </div>
      )}
      {failure !== null && running === null && (
        <Problem>
          The last backup failed (<Moment at={new Date(failure.at)} />
          ): {failure.message}
        </Problem>
      )}
      {problem !== null && failure === null && <Problem>{problem}</Problem>}
    </>
  );
}

function Restore({
  program,
  folder,
  isEncrypted,
}: {
  program: string;
  folder: string | null;
  isEncrypted: boolean;
}) {
  const restore = [
    `${program} restore ${folder === null ? "FOLDER" : quoteForShell(folder)}`,
    "--data-dir NEW_FOLDER",
    ...(isEncrypted ? ["--identity key.txt"] : []),
  ].join(" ");
  return (
    <Setting
      id="restore"
      title="Restore"
      about={
        <>
          This server and its data are not changed.{" "}
          <a href={`${HELP_PATH}/back-up`}>What a restore brings back</a>
        </>
      }
    >
      <ol>
        <li>
          On this machine or another one with ctxd, restore into a new folder
          {isEncrypted && ", with the key file of the recipient"}:
          <Copyable text={restore} label="the command that restores" />
        </li>
        <li>
          Look at it on another port:
          <Copyable
            text={`${program} serve --data-dir NEW_FOLDER --port 7744`}
            label="the command that starts a server on it"
          />
        </li>
        <li>
          To go on with it, stop this server and start it with <code>--data-dir NEW_FOLDER</code>.
          Everybody signs in again; passwords and API keys are those of the backup.
        </li>
      </ol>
    </Setting>
  );
}
