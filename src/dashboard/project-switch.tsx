/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Stats } from "../memories/stats.ts";
import { Button } from "../pages/button.tsx";
import { Field } from "../pages/field.tsx";
import { type Child, Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { titleOf } from "./excerpt.ts";
import { type View, viewPath } from "./memories-view.ts";
import { PATHS } from "./navigation.tsx";

/** Projects that have a link, and names that are suggested: the most frequent ones. */
const MOST = 8;
const MOST_SUGGESTED = 50;
/** Id of the list of names. */
export const PROJECT_NAMES = "projects";

export type ProjectCounts = Stats["projects"];

/** The ways to the memories of one project, with how many it has. */
export function ProjectSwitch({ view, projects }: { view: View; projects: ProjectCounts }): Markup {
  const counts = new Map(projects.map(({ project, memories }) => [project, memories]));
  // One that has no memory any more is looked at all the same.
  if (view.project !== "" && !counts.has(view.project)) counts.set(view.project, 0);
  const named = [...counts.keys()].filter((project) => project !== null);
  if (named.length === 0) return Fragment({});

  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const first = named.slice(0, MOST);
  if (view.project !== "" && !first.includes(view.project)) first.push(view.project);
  const others = named.length - first.length;
  const to = (project: string) => (
    <Way view={view} to={{ project }} count={counts.get(project) ?? 0}>
      <bdi>{titleOf(project)}</bdi>
    </Way>
  );
  return (
    <nav class="tabs projects" aria-label="Projects">
      <ul>
        <Way view={view} to={{}} count={total}>
          All projects
        </Way>
        {first.map(to)}
        <Way view={view} to={{ unfiled: "1" }} count={counts.get(null) ?? 0}>
          No project
        </Way>
      </ul>
      {others > 0 && <Another view={view} count={others} />}
    </nav>
  );
}

/** To a project by its name, where there are too many for a link to each. */
function Another({ view, count }: { view: View; count: number }): Markup {
  const rest = Object.entries({ ...view, project: "", unfiled: "", cursor: "" });
  return (
    <details>
      <summary>{count === 1 ? "1 more" : `${count} more`}</summary>
      <form method="get" action={PATHS.memories} class="search-line">
        {rest.map(([name, value]) => value && <input type="hidden" name={name} value={value} />)}
        <Field
          label="Name of the project"
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

/** Names of projects, for fields that suggest them. */
export function ProjectNames({ projects }: { projects: ProjectCounts }): Markup {
  const names = projects.flatMap(({ project }) => project ?? []).slice(0, MOST_SUGGESTED);
  return (
    <datalist id={PROJECT_NAMES}>
      {names.map((name) => (
        <option value={name} />
      ))}
    </datalist>
  );
}

/** To the same view of another project. */
function Way({
  view,
  to,
  count,
  children,
}: {
  view: View;
  to: Partial<Pick<View, "project" | "unfiled">>;
  count: number;
  children?: Child;
}): Markup {
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
