/** @jsxRuntime automatic @jsxImportSource #pages */
import { LRUCache } from "lru-cache";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import type { Stats } from "../../memories/rules/stats.ts";
import { Button } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { type Child, Fragment } from "../../pages/jsx-runtime.ts";
import { titleOf } from "../../text/excerpt.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { PATHS, projectPath } from "../navigation.tsx";
import { type View, viewPath } from "./memories-view.ts";

/** Milliseconds that a page waits for counts. */
const TIMEOUT_MS = 2_000;
/** Milliseconds that a page waits if the account has older counts of many memories. */
const SHORT_TIMEOUT_MS = 40;
/** From this number of memories on, older counts are good enough. */
const MANY_MEMORIES = 20_000;
/** Milliseconds for which a slow count is not repeated. */
const REPEAT_AFTER_MS = 60_000;
const MAX_ACCOUNTS = 1_000;

/**
 * Makes a function that counts an account's memories by project. If counting takes long, it returns the last counts
 * or none, and a later page gets the new ones.
 */
export function createProjectCounts({
  memories,
  timeoutMs = TIMEOUT_MS,
}: {
  memories: Pick<Memories, "stats">;
  timeoutMs?: number;
}): (accountId: string) => Promise<ProjectCounts> {
  const slow = new LRUCache<string, Promise<ProjectCounts>>({
    max: MAX_ACCOUNTS,
    ttl: REPEAT_AFTER_MS,
  });
  /** The last counts of accounts with many memories. */
  const last = new LRUCache<string, ProjectCounts>({ max: MAX_ACCOUNTS });

  const keep = (accountId: string, counts: ProjectCounts): void => {
    const total = counts.reduce((sum, { memories }) => sum + memories, 0);
    if (total >= MANY_MEMORIES) last.set(accountId, counts);
    else last.delete(accountId);
  };

  return async (accountId) => {
    const known = slow.get(accountId);
    const counts =
      known ?? memories.stats(wholeAccount(accountId)).then(({ projects }) => projects);
    const before = last.get(accountId);
    const wait = before ? Math.min(SHORT_TIMEOUT_MS, timeoutMs) : timeoutMs;
    const counted = await withTimeLimit(counts, wait, () => null);
    if (counted) {
      keep(accountId, counted);
      return counted;
    }
    if (!known && !before) {
      slow.set(accountId, counts);
      counts.catch(() => slow.delete(accountId));
    }
    counts.then((late) => keep(accountId, late)).catch(() => {});
    return before ?? [];
  };
}

/** Projects with a link: those with the most memories. */
const MAX_LINKS = 8;
/** Id of the `datalist` of project names. */
export const PROJECT_NAMES = "projects";

export type ProjectCounts = Stats["projects"];

/** Links to the memories of each project, with their number. */
export function ProjectSwitch({ view, projects }: { view: View; projects: ProjectCounts }) {
  const counts = new Map(projects.map(({ project, memories }) => [project, memories]));
  // The project in view gets a link even if it has no memories left.
  if (view.project !== "" && !counts.has(view.project)) counts.set(view.project, 0);
  const named = [...counts.keys()].filter((project) => project !== null);
  if (named.length === 0) return Fragment({});

  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const first = named.slice(0, MAX_LINKS);
  if (view.project !== "" && !first.includes(view.project)) first.push(view.project);
  const others = named.length - first.length;
  const to = (project: string) => (
    <ProjectLink view={view} to={{ project }} count={counts.get(project) ?? 0}>
      <bdi>{titleOf(project)}</bdi>
    </ProjectLink>
  );
  return (
    <nav class="tabs projects" aria-label="Projects">
      <ul>
        <ProjectLink view={view} to={{}} count={total}>
          All projects
        </ProjectLink>
        {first.map(to)}
        <ProjectLink view={view} to={{ unfiled: "1" }} count={counts.get(null) ?? 0}>
          No project
        </ProjectLink>
      </ul>
      {view.project !== "" && <a href={projectPath(view.project)}>About this project</a>}
      {others > 0 && <OtherProject view={view} count={others} />}
    </nav>
  );
}

/** A form that opens a project by name, for projects without a link. */
function OtherProject({ view, count }: { view: View; count: number }) {
  const rest = Object.entries({ ...view, project: "", unfiled: "", cursor: "" });
  return (
    <details>
      <summary>{count === 1 ? "1 more" : `${count} more`}</summary>
      <form method="get" action={PATHS.memories} class="search-line">
        {rest.map(([name, value]) => value && <input type="hidden" name={name} value={value} />)}
        <Field
          label="Project name"
          name="project"
          maxlength={128}
          required={true}
          autocomplete="off"
          list={PROJECT_NAMES}
        />
        <Button>Show</Button>
      </form>
    </details>
  );
}

function ProjectLink({
  view,
  to,
  count,
  children,
}: {
  view: View;
  to: Partial<Pick<View, "project" | "unfiled">>;
  count: number;
  children?: Child;
}) {
  const { project = "", unfiled = "" } = to;
  const isHere = view.project === project && view.unfiled === unfiled;
  return (
    <li>
      <a
        class="tab"
        href={viewPath({ ...view, project, unfiled, cursor: "" })}
        aria-current={isHere ? "true" : undefined}
        data-switch="project unfiled cursor"
      >
        {children} <span class="count">{count.toLocaleString("en")}</span>
      </a>
    </li>
  );
}
