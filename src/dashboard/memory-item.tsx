/** @jsxRuntime automatic @jsxImportSource #pages */

import { unitsOf } from "../code-points.ts";
import type { Explanation, FoundMemory } from "../memories/found-memory.ts";
import type { Piece } from "../memories/matched/marks.ts";
import type { Memory } from "../memories/memory.ts";
import { PARTS } from "../memories/ranking/signals/kind.ts";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { Moment } from "../pages/moment.tsx";
import { type View, viewPath } from "./memories-view.ts";
import { PATHS } from "./navigation.tsx";

/** Characters of a text that a list shows, and that name it elsewhere. */
const EXCERPT = 280;
const NAME = 60;
/** Log-odds that change nothing to speak of. */
const LITTLE = 0.1;
const LABELS: Record<(typeof PARTS)[number], string> = {
  meaning: "Meaning",
  words: "Words",
  session: "Session",
  wording: "Wording",
  time: "Time",
  length: "Length",
};

/**
 * A memory in a list, to be opened or selected.
 * @param mark cuts the text of one that was found where words of the question are
 */
export function MemoryItem({
  memory,
  mark,
  view,
}: {
  memory: Memory | FoundMemory;
  mark?: ((text: string) => readonly Piece[]) | undefined;
  /** Where it is listed: what it leads to is of the same project. */
  view: Pick<View, "project" | "unfiled">;
}): Markup {
  const { id, content } = memory;
  const isFound = "matched" in memory && mark !== undefined;
  return (
    <article class="memory">
      <input type="checkbox" name="id" value={id} aria-label={`Select “${nameOf(content)}”`} />
      <div>
        <a class={isFound ? "memory-text passage" : "memory-text"} href={`${PATHS.memories}/${id}`}>
          <bdi>
            {isFound ? <Passage memory={memory} mark={mark} /> : shortened(content, EXCERPT)}
          </bdi>
        </a>
        {"score" in memory && <Score score={memory.score} explanation={memory.explanation} />}
        <Facts memory={memory} within={{ project: view.project, unfiled: view.unfiled }} />
      </div>
    </article>
  );
}

/** What is known about a memory, with the ways to others that have it in common. */
function Facts({
  memory,
  within,
}: {
  memory: Memory | FoundMemory;
  within: Pick<View, "project" | "unfiled">;
}): Markup {
  const { tags, project, agent_id, session_id, importance, pinned, source } = memory;
  const to = (more: Partial<View>) => viewPath({ ...within, ...more });
  return (
    <p class="memory-facts">
      {"newer" in memory && memory.newer !== undefined && (
        <a href={`${PATHS.memories}/${memory.newer}`}>There is a newer one</a>
      )}
      {memory.superseded_by !== null && (
        <a href={`${PATHS.memories}/${memory.superseded_by}`}>Something else is true now</a>
      )}
      {tags.map((tag) => (
        <a class="badge" href={to({ tags: tag })}>
          <bdi>{tag}</bdi>
        </a>
      ))}
      {project !== null && project !== within.project && (
        <span>
          Project{" "}
          <a href={viewPath({ project })}>
            <bdi>{nameOf(project)}</bdi>
          </a>
        </span>
      )}
      {agent_id !== null && (
        <span>
          Agent{" "}
          <a href={to({ agent_id })}>
            <bdi>{nameOf(agent_id)}</bdi>
          </a>
        </span>
      )}
      {session_id !== null && (
        <span>
          Session{" "}
          <a href={to({ session_id })}>
            <bdi>{nameOf(session_id)}</bdi>
          </a>
        </span>
      )}
      {source !== null && (
        <span>
          {source.via === "capture" ? "Captured by " : "By "}
          <a href={to({ source: source.id })}>
            <bdi>{nameOf(source.by)}</bdi>
          </a>
        </span>
      )}
      <span>{pinned ? "Pinned" : `Importance ${importance}`}</span>
      <Moment at={new Date(memory.created_at)} />
      {memory.expires_at !== null && (
        <span>
          Expires <Moment at={new Date(memory.expires_at)} />
        </span>
      )}
    </p>
  );
}

/** What made a memory match, with the words of the question marked. */
function Passage({
  memory: { content, matched },
  mark,
}: {
  memory: FoundMemory;
  mark: (text: string) => readonly Piece[];
}): Markup {
  const isBeginning = matched.start === 0;
  const isEnd = unitsOf(content)(matched.end) >= content.trimEnd().length;
  return (
    <>
      {!isBeginning && "… "}
      {mark(matched.text.replaceAll(/\s+/g, " ").trim()).map(({ text, isAsked }) =>
        isAsked ? <mark>{text}</mark> : text,
      )}
      {!isEnd && " …"}
    </>
  );
}

/** Why a memory stands where it stands: how much likelier each part makes it that it answers. */
function Score({
  score,
  explanation,
}: {
  score: number;
  explanation: Explanation | undefined;
}): Markup {
  if (!explanation) return Fragment({});
  const { retention } = explanation;
  return (
    <div class="score">
      <span class="score-total">{`Score ${score.toFixed(2)}`}</span>
      {PARTS.filter((part) => Math.abs(explanation[part]) >= LITTLE).map((part) => (
        <span class="part">{`${LABELS[part]} ${factor(explanation[part])}`}</span>
      ))}
      <span class="part">
        Retention{" "}
        <meter value={retention} min={0} max={1} aria-label="Retention">
          {percent(retention)}
        </meter>{" "}
        {percent(retention)}
      </span>
    </div>
  );
}

/** By what log-odds multiply the odds. */
function factor(logOdds: number): string {
  const times = Math.exp(logOdds);
  return `×${times >= 10 ? Math.round(times) : times.toFixed(1)}`;
}

/** The beginning of a text on one line, which names it. */
export function nameOf(content: string): string {
  return shortened(content, NAME);
}

function shortened(content: string, limit: number): string {
  const line = content.replaceAll(/\s+/g, " ").trim();
  // By characters, so that none is cut in two.
  const characters = [...line.slice(0, 2 * limit)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
