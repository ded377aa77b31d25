/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Stats } from "../memories/stats.ts";
import { type Child, Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { type View, viewPath } from "./memories-view.ts";

/** Projects that are shown before the others are folded away. */
const MOST = 8;

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
  const others = named.filter((project) => !first.includes(project));
  const to = (project: string) => (
    <Way view={view} to={{ project }} count={counts.get(project) ?? 0}>
      <bdi>{project}</bdi>
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
      {others.length > 0 && (
        <details>
          <summary>{others.length === 1 ? "1 more" : `${others.length} more`}</summary>
          <ul>{others.map(to)}</ul>
        </details>
      )}
    </nav>
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
