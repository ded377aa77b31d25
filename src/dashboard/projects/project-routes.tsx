/** @jsxRuntime automatic @jsxImportSource #pages */
import { basename } from "node:path";
import { RECALL_CHARACTERS } from "../../capture/recall-text.ts";
import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { memoryCount } from "../../text/number-text.ts";
import { createPause } from "../../timing/pause.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import { createAccessList, isActive } from "../agents/agents-view.ts";
import { knownOn, pastDay } from "../memories/as-of.tsx";
import { describeChange } from "../memories/pending-changes.tsx";
import { createProjectCounts } from "../memories/project-switch.tsx";
import { projectIn } from "../memories/selection-routes.tsx";
import { DEFAULT_IMPORTANCE } from "../memory/memory-form.ts";
import { PATHS, projectOf, projectPath } from "../navigation.tsx";
import type { Parts } from "../parts.ts";
import { memoryFacts, type Visit } from "../session.ts";
import { ProjectPage } from "./project-page.tsx";
import { ProjectsPage } from "./projects-page.tsx";

/** Newest memories among which the shown ones are chosen, as recall does. */
const CANDIDATES = 100;
const SHOWN = 6;
/** Milliseconds that the page waits for recall. After a start the server must load the model first. */
const RECALL_TIMEOUT_MS = 3_000;

/** Makes a function that renders the page of a project, which a part of a path names. */
function createPage(parts: Parts) {
  const { memories, recall, clock } = parts;
  const listAccess = createAccessList(parts);
  const countsOf = createProjectCounts({ memories });

  return async (visit: Visit, part: string, problem?: string) => {
    const { account, reach, place } = visit;
    const project = projectOf(part);
    const stats = await memories.stats({ ...reach, bound: { project, only: true } });
    if (stats.memories === 0) throw noProject();
    const day = pastDay(visit.url.searchParams, clock());
    const filter = { projects: [project], isCurrent: true, isCaptured: false, ...knownOn(day) };
    const pause = createPause();
    const { memories: known } = await memories.list(reach, { filter, limit: CANDIDATES });
    await pause();
    const access = place?.space ? [] : await listAccess(account.id);
    const bound = access.filter(
      (each) => isActive(each, clock()) && each.bound?.project === project,
    );
    const projects = await countsOf(reach.accountId);
    await pause();
    // An agent of the person is told what the person's spaces know of the project too.
    const told = place?.space ? reach : { ...reach, spaces: visit.spaces };
    const ask = () =>
      recall.text(told, {
        ...{ session: null, project, name: basename(project), prompt: null, isFresh: true },
        ...{ budget: RECALL_CHARACTERS.default, explains: true },
      });
    const recalled = day === "" ? await withTimeLimit(ask(), RECALL_TIMEOUT_MS, () => null) : null;
    const important = known
      .filter(({ pinned, importance }) => pinned || importance > DEFAULT_IMPORTANCE)
      .sort((a, b) => Number(b.pinned) - Number(a.pinned) || b.importance - a.importance);
    return (
      <ProjectPage
        visit={visit}
        name={project}
        day={day}
        stats={stats}
        newest={known.slice(0, SHOWN)}
        important={important.slice(0, SHOWN)}
        recalled={recalled}
        bound={bound.map(({ name }) => name)}
        projects={projects}
        problem={problem}
      />
    );
  };
}

/** The pages of projects, and their forms. */
export function addProjectPages(parts: Parts): void {
  const { pages, memories, record } = parts;
  const page = createPage(parts);
  const countIn = (reach: Reach, project: string | null) =>
    memories.count(reach, { projects: [project] });

  /** Moves all memories of a project, and says so on the page of their new one. */
  const moveAll = async (visit: Visit, from: string, to: string | null) => {
    const amount = await memories.move(visit.reach, { projects: [from] }, to);
    record(visit.request, "memories_moved", { ...memoryFacts(visit), amount });
    const notice = `${memoryCount(amount)} ${describeChange({ kind: "move", project: to }, amount)}.`;
    return { to: to === null ? PATHS.projects : projectPath(to), notice };
  };

  pages.get(PATHS.projects, async (visit) => {
    const { projects } = await memories.stats(visit.reach);
    return <ProjectsPage visit={visit} projects={projects} />;
  });
  pages.get(`${PATHS.projects}/:id`, (visit, part) => page(visit, part));
  pages.post(
    `${PATHS.projects}/:id/rename`,
    async (visit, form, part) => {
      const name = projectIn(form.get("name"));
      if (name === null) throw new AppError("validation_failed", "Enter the new name.");
      if ((await countIn(visit.reach, name)) > 0) {
        const message = "There is a project with this name. Move the memories to it instead.";
        throw new AppError("conflict", message);
      }
      return moveAll(visit, projectOf(part), name);
    },
    (visit, problem, _, part) => page(visit, part, problem),
  );
  pages.confirmed(
    `${PATHS.projects}/:id/move`,
    "projects",
    async ({ reach, url }, part) => {
      const [from, to] = [projectOf(part), projectIn(url.searchParams.get("to_project"))];
      if (from === to) throw new AppError("validation_failed", "Choose another project.");
      const pause = createPause();
      const amount = await countIn(reach, from);
      await pause();
      const there = await countIn(reach, to);
      if (amount === 0) throw noProject();
      const count = memoryCount(amount);
      return {
        title: to !== null && there > 0 ? "Merge these projects?" : `Move ${count}?`,
        confirm: `Move ${count}`,
        cancel: projectPath(from),
        text: (
          <>
            <input type="hidden" name="to_project" value={to ?? ""} />
            <p>
              All memories of “<bdi>{from}</bdi>” will belong to{" "}
              {to === null ? (
                "no project"
              ) : (
                <>
                  “<bdi>{to}</bdi>”
                </>
              )}
              {there > 0 &&
                `, where ${memoryCount(there)} ${there === 1 ? "is" : "are"} already. They can't be told apart afterwards`}
              .
            </p>
          </>
        ),
      };
    },
    (visit, form, part) => moveAll(visit, projectOf(part), projectIn(form.get("to_project"))),
  );
}

function noProject(): AppError {
  return new AppError("not_found", "No memory belongs to this project.");
}
