/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Memory } from "../../memories/model/memory.ts";
import type { Stats } from "../../memories/rules/stats.ts";
import { Button, ButtonLink } from "../../pages/button.tsx";
import { Field, Select } from "../../pages/field.tsx";
import { PostForm } from "../../pages/form.tsx";
import { Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf } from "../../text/excerpt.ts";
import { memoryCount } from "../../text/number-text.ts";
import { AsOf } from "../memories/as-of.tsx";
import { newPath } from "../memories/memories-page.tsx";
import { viewPath } from "../memories/memories-view.ts";
import { Suggestions } from "../memories/memory-search-form.tsx";
import { PROJECT_NAMES, type ProjectCounts } from "../memories/project-switch.tsx";
import { HELP_PATH, MEMORY_PATHS, memoryPath, projectPath } from "../navigation.tsx";
import { Page, Setting } from "../page.tsx";
import { mayChange, type Visit } from "../session.ts";

/** Characters of a memory that are shown. */
const EXCERPT = 200;
/** Tags that are shown. */
const MAX_TAGS = 20;

interface Project {
  visit: Visit;
  name: string;
  /** A day in the past whose memories are shown; empty for the present. */
  day: string;
  /** Of this project's memories alone. */
  stats: Stats;
  newest: readonly Memory[];
  /** Pinned ones and those above the usual importance, first the most important. */
  important: readonly Memory[];
  /** What recall says at the beginning of a session; null while the model is being loaded. */
  recalled: string | null;
  /** Names of keys and apps that are bound to the project. */
  bound: readonly string[];
  projects: ProjectCounts;
  problem?: string | undefined;
}

/** The page of one project. */
export function ProjectPage({ visit, name, day, stats, problem, ...project }: Project) {
  const { newest, important, recalled, bound, projects } = project;
  const exportQuery = new URLSearchParams({ project: name });
  return (
    <Page
      visit={visit}
      section="projects"
      title={name}
      problem={problem}
      actions={
        <>
          <ButtonLink href={viewPath({ project: name, as_of: day })}>
            {day === "" ? memoryCount(stats.memories) : "All memories of then"}
          </ButtonLink>
          <ButtonLink href={`${MEMORY_PATHS.export}?${exportQuery}`}>Export</ButtonLink>
          {mayChange(visit) && (
            <ButtonLink href={newPath({ project: name })} kind="main">
              Add a memory
            </ButtonLink>
          )}
        </>
      }
    >
      <AsOf day={day} back={projectPath(name)} />
      <div class="columns wide">
        <section class="panel">
          <h2>Newest</h2>
          <MemoryLinks memories={newest} day={day} none="Nothing but what was captured." />
        </section>
        <section class="panel">
          <h2>Pinned and important</h2>
          <MemoryLinks
            memories={important}
            day={day}
            none="None is pinned or above the usual importance."
          />
        </section>
      </div>
      {day === "" ? (
        <Present {...{ visit, name, stats, recalled, bound, projects }} />
      ) : (
        <DayForm name={name} day={day} />
      )}
    </Page>
  );
}

/** The form that shows the project as of another day. */
function DayForm({ name, day }: Pick<Project, "name" | "day">) {
  return (
    <Setting
      id="as-of"
      title="As of a day"
      about="What was known of this project at the end of a day in UTC."
    >
      <form method="get" action={projectPath(name)}>
        <Field label="Day" name="as_of" type="date" value={day} />
        <Button>Show</Button>
      </form>
    </Setting>
  );
}

/** What a page of the past does not have: counts, what agents are told, and forms. */
function Present({
  visit,
  name,
  stats,
  recalled,
  bound,
  projects,
}: Pick<Project, "visit" | "name" | "stats" | "recalled" | "bound" | "projects">) {
  return (
    <>
      {stats.tags.length > 0 && (
        <ul class="memory-tags project-tags" aria-label="Tags">
          {stats.tags.slice(0, MAX_TAGS).map(({ tag, memories }) => (
            <li>
              <a class="badge" href={viewPath({ project: name, tags: tag })}>
                <bdi>{tag}</bdi> {memories.toLocaleString("en")}
              </a>
            </li>
          ))}
        </ul>
      )}
      <RecallPanel text={recalled} />
      <DayForm name={name} day="" />
      {mayChange(visit) && <ProjectForms visit={visit} name={name} bound={bound} />}
      <Suggestions
        projects={projects.flatMap(({ project }) => (project === name ? [] : (project ?? [])))}
      />
    </>
  );
}

function MemoryLinks({
  memories,
  day,
  none,
}: {
  memories: readonly Memory[];
  day: string;
  none: string;
}) {
  if (memories.length === 0) return <p class="faint">{day === "" ? none : "None on that day."}</p>;
  return (
    <ol class="related">
      {memories.map(({ id, content, created_at, pinned, changed_since }) => (
        <li>
          <a class="memory-text" href={memoryPath(id, day)}>
            <bdi>{excerptOf(content, EXCERPT)}</bdi>
          </a>
          <span>
            {pinned && <span class="badge">Pinned</span>}{" "}
            {changed_since && <span class="badge">Changed since</span>}{" "}
            <Moment at={new Date(created_at)} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/** A line of a recalled text, with the reason why it is there, and the memory's time and id before what it says. */
const LINE = /^- \[(?<why>[^\]]*)\] (?<facts>\([^)]*\)) (?<said>.*)$/;

/** What recall says: a heading, and the lines of the memories by the reason why they are there. */
function RecallPanel({ text }: { text: string | null }) {
  const [heading = "", ...lines] = text?.split("\n") ?? [];
  const read = lines.map((line) => LINE.exec(line)?.groups ?? { why: "", said: line });
  const byReason = Map.groupBy(read, ({ why = "" }) => why.charAt(0).toUpperCase() + why.slice(1));
  return (
    <section class="panel" aria-labelledby="recall">
      <h2 id="recall">What an agent is told at the beginning of a session</h2>
      {text === null && (
        <p class="faint">The model is still being loaded. Reload this page in a moment.</p>
      )}
      {text === "" && <p class="faint">Nothing: no memory is important enough.</p>}
      {heading !== "" && <p>{heading}</p>}
      {[...byReason].map(([why, own]) => (
        <>
          <h3>{why}</h3>
          <ul class="recalled">
            {own.map(({ facts, said }) => (
              <li>
                <span class="faint">{facts}</span> <bdi>{said}</bdi>
              </li>
            ))}
          </ul>
        </>
      ))}
      <p class="hint">
        Agents receive this with <a href={`${HELP_PATH}/capture`}>recall</a>, or when they ask.
        Pinned and important memories come first.
      </p>
    </section>
  );
}

function ProjectForms({ visit, name, bound }: Pick<Project, "visit" | "name" | "bound">) {
  const path = projectPath(name);
  const targets = visit.place?.space ? [] : visit.spaces.filter(({ role }) => role !== "read");
  return (
    <>
      <Setting
        id="rename"
        title="Rename"
        about="Agents name a project after its git repository. As long as they use the old name, new memories come under it."
      >
        {bound.length > 0 && (
          <Notice>
            Bound to the present name, so they would no longer reach these memories:{" "}
            {bound.map((each, place) => (
              <>
                {place > 0 && ", "}
                <bdi>{each}</bdi>
              </>
            ))}
          </Notice>
        )}
        <PostForm action={`${path}/rename`} token={visit.token}>
          <Field
            label="New name"
            name="name"
            value={name}
            required={true}
            maxlength={128}
            autocomplete="off"
          />
          <Button>Rename</Button>
        </PostForm>
      </Setting>
      <Setting
        id="move"
        title="Merge or move"
        about={
          <>
            Moves all memories to another project. To move some,{" "}
            <a href={viewPath({ project: name })}>select them in the list</a>.
          </>
        }
      >
        <form method="get" action={`${path}/move`}>
          <Field
            label="To the project"
            name="to_project"
            hint="Empty for no project"
            maxlength={128}
            autocomplete="off"
            list={PROJECT_NAMES}
          />
          <Button>Move all…</Button>
        </form>
      </Setting>
      {targets.length > 0 && (
        <Setting
          id="into-space"
          title="Move into a space"
          about="Its members will see the memories. What was captured stays yours."
        >
          <form method="get" action={`${path}/into-space`}>
            <Select
              label="Space"
              name="space"
              value=""
              options={targets.map(({ id, name }) => [id, name])}
            />
            <Button>Preview the move…</Button>
          </form>
        </Setting>
      )}
    </>
  );
}
