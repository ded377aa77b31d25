/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Stats } from "../../memories/rules/stats.ts";
import { Button } from "../../pages/button.tsx";
import { Field } from "../../pages/field.tsx";
import { type Child, Fragment, type Markup } from "../../pages/jsx-runtime.ts";
import { titleOf } from "../excerpt.ts";
import { PATHS } from "../navigation.tsx";
import { type View, viewPath } from "./memories-view.ts";

/** Projects with a link: those with the most memories. */
const MAX_LINKS = 8;
const MAX_SUGGESTIONS = 50;
/** Id of the `datalist` of project names. */
export const PROJECT_NAMES = "projects";

export type ProjectCounts = Stats["projects"];

/** Links to the memories of each project, with their number. */
export function ProjectSwitch({ view, projects }: { view: View; projects: ProjectCounts }): Markup {
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
      {others > 0 && <OtherProject view={view} count={others} />}
    </nav>
  );
}

/** A form that opens a project by name, for projects without a link. */
function OtherProject({ view, count }: { view: View; count: number }): Markup {
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

/** The project names that fields suggest. */
export function ProjectNames({ projects }: { projects: ProjectCounts }): Markup {
  const names = projects.flatMap(({ project }) => project ?? []).slice(0, MAX_SUGGESTIONS);
  return (
    <datalist id={PROJECT_NAMES}>
      {names.map((name) => (
        <option value={name} />
      ))}
    </datalist>
  );
}

/** A link to the same view of another project. */
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
