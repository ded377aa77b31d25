/** @jsxRuntime automatic @jsxImportSource #pages */
import { ThemeForm } from "../pages/theme.tsx";
import { HELP_PAGES } from "./help/help-routes.tsx";
import { createProjectCounts } from "./memories/project-switch.tsx";
import { HELP_PATH, projectPath } from "./navigation.tsx";
import type { Parts } from "./parts.ts";

/** Projects that the palette finds: those with the most memories. */
const MAX_PROJECTS = 100;

/** What the palette finds besides the links of the page: projects, pages of the help, and themes. Its script fetches this. */
export function addPaletteLinks({ pages, memories }: Parts): void {
  const countsOf = createProjectCounts({ memories });
  pages.get("/palette", async ({ reach, token }) => {
    const projects = (await countsOf(reach.accountId)).flatMap(({ project }) => project ?? []);
    return (
      <>
        {projects.slice(0, MAX_PROJECTS).map((project) => (
          <a href={projectPath(project)} data-kind="Projects">
            {project}
          </a>
        ))}
        {HELP_PAGES.map(({ name, label }) => (
          <a href={`${HELP_PATH}/${name}`} data-kind="Help">
            {`Help: ${label}`}
          </a>
        ))}
        <ThemeForm token={token} />
      </>
    );
  });
}
