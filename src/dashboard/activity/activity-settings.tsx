/** @jsxRuntime automatic @jsxImportSource #pages */
import { KEPT_DAYS } from "../../activity/activity.ts";
import { AppError } from "../../errors.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { viewPath } from "../memories/memories-view.ts";
import { PATHS } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import type { Visit } from "../session.ts";

/** The form that starts the keeping of questions. */
const QUERIES_PATH = `${PATHS.activity}/queries`;

/** The form that starts the counting of finds. */
const USES_PATH = `${PATHS.activity}/uses`;

/** The page that asks before one of the two stops and what it has kept is deleted. */
function stopPath(path: string): string {
  return `${path}/stop`;
}

/** What the server may keep of an account's use: the text of questions, and how often each memory is found. */
export function addActivitySettings(
  pages: Parts["pages"],
  { activity, uses }: Pick<Parts, "activity" | "uses">,
): void {
  addSwitch(pages, QUERIES_PATH, {
    set: activity.keepQueries,
    ofSpace: "A space keeps no questions.",
    on: "Questions are kept from now on.",
    off: "The kept questions are deleted. New ones are not kept.",
    title: "Delete the kept questions?",
    confirm: "Stop and delete questions",
    lost: "This permanently deletes the text of all questions that the server has kept for you.",
  });
  addSwitch(pages, USES_PATH, {
    set: uses.keep,
    ofSpace: "The finds of a space are always counted.",
    on: "Finds are counted from now on.",
    off: "The counts are deleted. Finds are not counted any more.",
    title: "Delete the counts of your memories?",
    confirm: "Stop and delete counts",
    lost: "This permanently deletes how often each of your memories was found, recalled and opened.",
  });
}

/** The form that starts one of the two, and the page that asks before it stops. */
function addSwitch(
  pages: Parts["pages"],
  path: string,
  {
    set,
    ofSpace,
    on,
    off,
    title,
    confirm,
    lost,
  }: Record<"ofSpace" | "on" | "off" | "title" | "confirm" | "lost", string> & {
    set(accountId: string, isKept: boolean): Promise<void>;
  },
): void {
  const change = async ({ account, place }: Visit, isKept: boolean) => {
    // Searches in a space are in the activity of who searches.
    if (place?.space) throw new AppError("not_found", ofSpace);
    await set(account.id, isKept);
    return { to: PATHS.activity, notice: isKept ? on : off };
  };
  pages.post(path, (visit) => change(visit, true));
  pages.confirmed(
    stopPath(path),
    "activity",
    () => ({
      title,
      confirm,
      cancel: PATHS.activity,
      text: (
        <>
          <p>{lost} You can’t undo this.</p>
          <p>Backups keep them until the backups are deleted.</p>
        </>
      ),
    }),
    (visit) => change(visit, false),
  );
}

/** The button that starts one of the two, or the one that stops it, which asks first. */
function Switch({
  visit,
  path,
  isOn,
  start,
  children,
}: {
  visit: Visit;
  path: string;
  isOn: boolean;
  start: string;
  children: string;
}) {
  return isOn ? (
    <ButtonLink href={stopPath(path)} kind="danger" asks={true}>
      {children}
    </ButtonLink>
  ) : (
    <PostForm action={path} token={visit.token}>
      <Button>{start}</Button>
    </PostForm>
  );
}

/** Shows whether finds are counted, and the button that changes it. */
export function UseCounting({ visit, since }: { visit: Visit; since: Date | null }) {
  const isOn = since !== null;
  return (
    <section class="panel activity-queries" aria-labelledby="uses">
      <h2 id="uses">Finds of memories</h2>
      <p>
        {isOn ? (
          <>
            The server has counted since <Moment at={since} exact={true} /> how often each memory is
            found, recalled and opened. <a href={viewPath({ sort: "most_found" })}>Most found</a>,{" "}
            <a href={viewPath({ sort: "never_found" })}>never found</a>. The counts of a memory go
            when it is deleted.
          </>
        ) : (
          "The server does not count how often your memories are found, recalled and opened."
        )}
      </p>
      <Switch visit={visit} path={USES_PATH} isOn={isOn} start="Count finds">
        Stop and delete counts
      </Switch>
    </section>
  );
}

/** Shows whether questions are kept, and the button that changes it. */
export function Queries({ visit, since }: { visit: Visit; since: Date | null }) {
  const isKept = since !== null;
  return (
    <section class="panel activity-queries" aria-labelledby="queries">
      <h2 id="queries">Questions</h2>
      <p>
        {isKept ? (
          <>
            The server has kept the text of questions since <Moment at={since} exact={true} />, for
            at most {KEPT_DAYS} days and with secrets masked. If you stop, it deletes them. Backups
            keep them until the backups are deleted.
          </>
        ) : (
          <>
            Searches are counted, but their text is not kept. If you turn this on, this page shows
            the questions. They are kept for at most {KEPT_DAYS} days, with secrets masked, and in
            backups too.
          </>
        )}
      </p>
      <Switch visit={visit} path={QUERIES_PATH} isOn={isKept} start="Keep questions">
        Stop and delete questions
      </Switch>
    </section>
  );
}
