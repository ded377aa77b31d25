/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button } from "../../pages/button.tsx";
import { Field, Select } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { BACKUPS_PATH, HELP_PATH } from "../navigation.tsx";
import { Fact, Setting, TimeFact } from "../page.tsx";
import type { BackupFacts } from "../server-status.ts";
import type { Visit } from "../session.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** When the last backup was made and the next is due, and the settings of the environment, which no form shows. */
export function ScheduleFacts({
  folder,
  every,
  keep,
  recipients,
  newest,
  isFixed,
}: NonNullable<BackupFacts["schedule"]> &
  Pick<BackupFacts, "isFixed"> & { newest: number | null }) {
  return (
    <Setting id="state" title="State">
      <dl>
        <TimeFact name="Last" at={newest === null ? null : new Date(newest)} none="none yet" />
        <Fact name="Next due">
          {every === null ? (
            "when you ask for it"
          ) : newest === null ? (
            "now"
          ) : (
            <Moment at={new Date(newest + every)} />
          )}
        </Fact>
        {isFixed && (
          <>
            {every !== null && <Fact name="Every">{spanText(every)}</Fact>}
            <Fact name="Keeps">{keep === 1 ? "the newest" : `the newest ${keep}`}</Fact>
            <Fact name="Folder">
              <code>{folder}</code>
            </Fact>
            <Fact name="Encrypted">{recipients.length > 0 ? "yes" : "no"}</Fact>
          </>
        )}
      </dl>
    </Setting>
  );
}

const INTERVALS: readonly (readonly [hours: string, label: string])[] = [
  ["0", "only when I press “Back up now”"],
  ["1", "every hour"],
  ["6", "every 6 hours"],
  ["12", "every 12 hours"],
  ["24", "every day"],
  ["168", "every week"],
];

/** The form of the schedule, or why it can't be changed here. */
export function ScheduleSetting({
  visit,
  facts,
  form,
}: {
  visit: Visit;
  facts: BackupFacts | null;
  form: URLSearchParams | undefined;
}) {
  if (facts === null || facts.isShared || facts.isFixed) {
    return (
      <Setting id="schedule" title="Schedule">
        <p>
          {facts?.isFixed ? (
            <>
              The server was started with <code>CTXD_BACKUP_DIR</code>,{" "}
              <code>CTXD_BACKUP_EVERY</code> and <code>CTXD_BACKUP_KEEP</code>. They are changed
              there, and take effect at the next start.
            </>
          ) : (
            "Several servers share this data, so none of them makes backups. Run the command below from a timer."
          )}
        </p>
      </Setting>
    );
  }
  const { schedule, recipients, suggested } = facts;
  const { every, keep } = schedule ?? { every: 24 * HOUR, keep: 7 };
  const hours = form?.get("hours") ?? `${(every ?? 0) / HOUR}`;
  const isListed = INTERVALS.some(([each]) => each === hours);
  return (
    <Setting
      id="schedule"
      title="Schedule"
      about={
        schedule === null
          ? "There are no backups yet. Choose where the server keeps them."
          : "A change takes effect at once. Backups in the former folder stay."
      }
    >
      <PostForm action={`${BACKUPS_PATH}/schedule`} token={visit.token} class="slim">
        <Field
          label="Folder"
          name="folder"
          value={form?.get("folder") ?? schedule?.folder ?? suggested}
          hint="A folder of the server’s machine, preferably on another disk. Each backup gets its own folder in it."
          placeholder="/mnt/usb/ctxd"
          required={true}
          maxlength={1000}
          autocomplete="off"
        />
        <Select
          label="How often"
          name="hours"
          value={hours}
          options={isListed ? INTERVALS : [...INTERVALS, [hours, spanText(every ?? 0)]]}
        />
        <Field
          label="Keep"
          name="keep"
          type="number"
          min="1"
          max="9999"
          value={form?.get("keep") ?? `${keep}`}
          hint="So many backups; older ones are removed."
          required={true}
        />
        {recipients.length > 0 ? (
          <Notice>
            Backups are encrypted for the recipients of <code>CTXD_BACKUP_RECIPIENT</code>.
          </Notice>
        ) : (
          <Field
            label="Encrypt for (optional)"
            name="recipients"
            value={form?.get("recipients") ?? schedule?.recipients.join(", ") ?? ""}
            hint={
              <>
                A recipient of <code>age-keygen</code>: <code>age1…</code>. Without its key file
                nobody can restore the backup.{" "}
                <a href={`${HELP_PATH}/back-up`}>How encryption works</a>
              </>
            }
            placeholder="age1…"
            autocomplete="off"
            maxlength={4000}
          />
        )}
        <div class="actions">
          <Button kind={schedule === null ? "main" : "plain"}>
            {schedule === null ? "Save and back up now" : "Save the schedule"}
          </Button>
          {schedule !== null && (
            <Button kind="link" name="none" value="true">
              Make no more backups
            </Button>
          )}
        </div>
      </PostForm>
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
