/** @jsxRuntime automatic @jsxImportSource #pages */
import { STATS_LIMITS } from "../../memories/rules/stats.ts";
import { EmptyState } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { viewPath } from "../memories/memories-view.ts";
import type { ProjectCounts } from "../memories/project-switch.tsx";
import { HELP_PATH, PATHS, projectPath } from "../navigation.tsx";
import { Page } from "../page.tsx";
import type { Visit } from "../session.ts";

/** The page of all projects, those with the most memories first. */
export function ProjectsPage({ visit, projects }: { visit: Visit; projects: ProjectCounts }) {
  const { items, ...pager } = listPage(projects, PATHS.projects, visit.url);
  return (
    <Page
      visit={visit}
      section="projects"
      title="Projects"
      lead="What your agents know of each project. Memories of no project are about you, and count everywhere."
    >
      {projects.some(({ project }) => project !== null) ? (
        <Table
          caption="Projects"
          rows={items}
          columns={[
            {
              title: "Project",
              cell: ({ project }) =>
                project === null ? (
                  <a href={viewPath({ unfiled: "1" })}>No project</a>
                ) : (
                  <a href={projectPath(project)}>
                    <bdi>{project}</bdi>
                  </a>
                ),
            },
            {
              title: "Memories",
              isNumber: true,
              cell: ({ memories }) => memories.toLocaleString("en"),
            },
            {
              title: "Last change",
              cell: ({ changed_at }) => <Moment at={new Date(changed_at)} />,
            },
          ]}
        />
      ) : (
        <EmptyState title="No memory has a project">
          <p>
            Agents name the project of a memory after the git repository that they work in.{" "}
            <a href={`${HELP_PATH}/projects`}>About projects</a>
          </p>
        </EmptyState>
      )}
      {projects.length === STATS_LIMITS.projects && (
        <p class="faint">{`These are the ${STATS_LIMITS.projects} projects with the most memories.`}</p>
      )}
      <Pager label="Pages of projects" {...pager} />
    </Page>
  );
}
