/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../../memories/model/memory.ts";
import {
  TIDY_KINDS,
  type TidyAction,
  type TidyGroup,
  type TidyKind,
  type TidyReport,
} from "../../memories/rules/tidy/report.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { PostForm } from "../../pages/form.tsx";
import { EmptyState, Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf, titleOf } from "../../text/excerpt.ts";
import { percent } from "../../text/number-text.ts";
import type { PendingChange } from "../../undo/undoable.ts";
import { PendingChanges } from "../memories/pending-changes.tsx";
import { HELP_PATH, MEMORY_PATHS, memoryPath, PATHS, Tabs, tidyPath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import { mayChange, type Visit } from "../session.ts";

/** The page that shows what a bulk change of a kind does. */
export const PREVIEW_PATH = `${MEMORY_PATHS.tidy}/all`;

/** Memories of a group that are shown, and characters of each. */
const MAX_SHOWN = 4;
const EXCERPT = 160;

/** What the groups of a kind have in common. */
export const KIND_LABELS: Record<TidyKind, string> = {
  restatements: "Say the same",
  contradictions: "Changed since",
  never_found: "Never found",
  expiring: "Expire soon",
  secrets: "Contain a secret",
  revoked: "Of revoked keys and apps",
  small_projects: "Alone in a project",
};

/** The name of what is done with a group. */
export function actionLabel(action: TidyAction, kind: TidyKind, project?: string): string {
  switch (action) {
    case "supersede":
      return "Keep one, the others as its history";
    case "delete":
      return kind === "restatements" || kind === "contradictions"
        ? "Keep one, delete the others"
        : "Delete";
    case "pin":
      return "Pin";
    case "expire":
      return "Let it expire";
    case "merge":
      return project === undefined ? "Move to the nearest project" : `Move to ${titleOf(project)}`;
  }
}

/** The kinds that were counted and have groups, or of which it is not known yet. */
function kindsOf({ kinds }: TidyReport): TidyKind[] {
  return TIDY_KINDS.filter((kind) => (kinds[kind] ?? 0) > 0);
}

/** The page of what could be tidied. */
export function TidyPage({
  visit,
  report,
  kind,
  cursor,
  pending,
}: {
  visit: Visit;
  report: TidyReport;
  /** The kind that is shown; null for all. */
  kind: TidyKind | null;
  cursor: string | null;
  pending: readonly PendingChange[];
}) {
  const total = kindsOf(report).reduce((sum, each) => sum + (report.kinds[each] ?? 0), 0);
  const back = tidyPath(kind ?? undefined);
  const tabs = [
    [tidyPath(), `All (${total.toLocaleString("en")})`] as const,
    ...kindsOf(report).map((each) => {
      const count = (report.kinds[each] ?? 0).toLocaleString("en");
      return [tidyPath(each), `${KIND_LABELS[each]} (${count})`] as const;
    }),
  ];
  return (
    <Page
      visit={visit}
      section="memories"
      title="Tidy"
      lead={
        <>
          What may be outdated, repeated or unsafe. Nothing changes until you choose it, and each
          change can be undone for ten seconds.{" "}
          <a href={`${HELP_PATH}/terminal#tidy`}>How it is found</a>
        </>
      }
      actions={<ButtonLink href={PATHS.memories}>All memories</ButtonLink>}
    >
      <div id="results">
        {total > 0 && <Tabs label="Kinds" tabs={tabs} current={back} of="views" />}
        <Progress report={report} kind={kind} />
        {report.groups.length === 0 ? (
          <EmptyState title={total > 0 ? "Nothing of this kind is left" : "Nothing to tidy"}>
            <p>
              Memories that say the same, contradict each other or need a decision will be listed
              here.
            </p>
          </EmptyState>
        ) : (
          <Groups {...{ visit, report, back }} />
        )}
        <More report={report} kind={kind} cursor={cursor} />
        {mayChange(visit) && <PendingChanges pending={pending} back={back} token={visit.token} />}
      </div>
    </Page>
  );
}

/** How far the memories were compared, and what is still being looked for. */
function Progress({ report, kind }: { report: TidyReport; kind: TidyKind | null }) {
  const { compared, kinds } = report;
  const isOfLikenesses = kind === null || kind === "restatements" || kind === "contradictions";
  return (
    <>
      {isOfLikenesses && compared === null && (
        <Notice>There are too many memories to compare them with each other on this server.</Notice>
      )}
      {isOfLikenesses && compared !== null && compared < 1 && (
        <Notice>{`${percent(compared)} of the memories have been compared with those near them so far.`}</Notice>
      )}
      {kinds.secrets === null && (
        <Notice>Secrets are being looked for. Open this page again in a moment.</Notice>
      )}
    </>
  );
}

function Groups({ visit, report, back }: { visit: Visit; report: TidyReport; back: string }) {
  const groups = Map.groupBy(report.groups, (group) => group.kind);
  return (
    <PostForm action={MEMORY_PATHS.tidy} token={visit.token} class="results tidy">
      <input type="hidden" name="view" value={back} />
      {[...groups].map(([kind, ofKind]) => (
        <section aria-labelledby={`kind-${kind}`}>
          <div class="spread">
            <h2 id={`kind-${kind}`}>{KIND_LABELS[kind]}</h2>
            {mayChange(visit) && report.kinds[kind] !== 1 && (
              <a href={`${PREVIEW_PATH}?kind=${kind}`}>
                {kind === "small_projects"
                  ? "Move all that are near another project …"
                  : `Do it with all ${(report.kinds[kind] ?? 0).toLocaleString("en")} …`}
              </a>
            )}
          </div>
          {ofKind.map((group) => (
            <Group group={group} isWriter={mayChange(visit)} />
          ))}
        </section>
      ))}
    </PostForm>
  );
}

function Group({ group, isWriter }: { group: TidyGroup; isWriter: boolean }) {
  const { id, kind, memories, proposal, actions, reason } = group;
  const others = memories.length - MAX_SHOWN;
  const subject = titleOf(memories[0]?.content ?? "");
  return (
    <article class="panel tidy-group" aria-label={subject}>
      <p class="faint">
        <bdi>{reason}</bdi>
      </p>
      <ul class="memories">
        {memories.slice(0, MAX_SHOWN).map((memory) => (
          <li>
            <Member memory={memory} isKept={memory.id === proposal.keep && memories.length > 1} />
          </li>
        ))}
      </ul>
      {others > 0 && <p class="hint">{`and ${others} more`}</p>}
      {isWriter && (
        <div class="actions">
          {actions.map((action) => (
            <Button
              kind={action === "delete" ? "danger" : action === proposal.action ? "main" : "plain"}
              name="do"
              value={`${action} ${id}`}
            >
              {actionLabel(action, kind, proposal.project)}
              <span class="hidden-text">{` “${subject}”`}</span>
            </Button>
          ))}
        </div>
      )}
    </article>
  );
}

function Member({ memory, isKept }: { memory: Memory; isKept: boolean }) {
  const { id, content, created_at, project } = memory;
  return (
    <article class="memory">
      <a class="memory-text" href={memoryPath(id)}>
        <bdi>{excerptOf(content, EXCERPT)}</bdi>
      </a>
      <div class="memory-facts">
        {isKept && <span class="badge">Stays</span>}
        {project !== null && (
          <span>
            <span class="hidden-text">Project </span>
            <bdi>{titleOf(project)}</bdi>
          </span>
        )}
      </div>
      <span class="memory-time">
        <Moment at={new Date(created_at)} />
      </span>
    </article>
  );
}

/** The links to the first and the next page. */
function More({
  report,
  kind,
  cursor,
}: {
  report: TidyReport;
  kind: TidyKind | null;
  cursor: string | null;
}) {
  if (cursor === null && report.next_cursor === null) return null;
  const to = (next: string) => {
    const parameters = new URLSearchParams({ ...(kind !== null && { kind }), cursor: next });
    return `${MEMORY_PATHS.tidy}?${parameters}`;
  };
  return (
    <nav class="pager" aria-label="Pages of groups">
      <div class="actions">
        {cursor !== null && <ButtonLink href={tidyPath(kind ?? undefined)}>First</ButtonLink>}
      </div>
      {report.next_cursor !== null && <ButtonLink href={to(report.next_cursor)}>More</ButtonLink>}
    </nav>
  );
}
