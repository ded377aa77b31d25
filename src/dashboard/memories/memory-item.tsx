/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Piece } from "../../memories/matched/highlights.ts";
import type { FoundMemory } from "../../memories/model/found-memory.ts";
import type { Memory } from "../../memories/model/memory.ts";
import { PARTS } from "../../memories/ranking/signals/kind.ts";
import { Fragment } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf, titleOf } from "../../text/excerpt.ts";
import { percent } from "../../text/number-text.ts";
import { unitsOf } from "../../text/short-text.ts";
import { DEFAULT_IMPORTANCE } from "../memory/memory-form.ts";
import { memoryPath } from "../navigation.tsx";
import { type View, viewPath } from "./memories-view.ts";

/** Characters of a text that a list shows. */
const EXCERPT = 250;
/** Smaller log-odds are not shown. */
const MIN_LOG_ODDS = 0.1;
const LABELS: Record<(typeof PARTS)[number], string> = {
  meaning: "Meaning",
  words: "Words",
  session: "Session",
  wording: "Wording",
  time: "Time",
  length: "Length",
};

/**
 * A memory in a list, which can be opened and selected: its text, time and properties.
 * @param mark splits the text of a search result at the words of the question
 */
export function MemoryItem({
  memory,
  mark,
  secrets,
  view,
  isChosen = true,
}: {
  memory: Memory | FoundMemory;
  /** Kinds of the secrets in the memory, if there are any. */
  secrets: string | undefined;
  mark?: ((text: string) => readonly Piece[]) | undefined;
  /** The list that shows it. Links stay in the same project and on the same day. */
  view: Pick<View, "project" | "unfiled" | "as_of">;
  /** Whether it can be selected. */
  isChosen?: boolean;
}) {
  const { id, content } = memory;
  const { project, unfiled, as_of } = view;
  const isFound = "matched" in memory && mark !== undefined;
  return (
    <article class="memory">
      {isChosen && (
        <label class="memory-box">
          <input type="checkbox" name="id" value={id} aria-label={`Select “${titleOf(content)}”`} />
        </label>
      )}
      <a class={isFound ? "memory-text passage" : "memory-text"} href={memoryPath(id, view.as_of)}>
        <bdi>
          {isFound ? (
            <Passage memory={memory} mark={mark} />
          ) : (
            excerptOf(withoutMarks(content), EXCERPT)
          )}
        </bdi>
      </a>
      <div class="memory-facts">
        {secrets !== undefined && (
          <span class="badge secret" title={`Contains what looks like a secret: ${secrets}`}>
            Secret
          </span>
        )}
        {"score" in memory && <Score {...memory} />}
        <Facts memory={memory} within={{ project, unfiled, as_of }} />
      </div>
      <span class="memory-time">
        <Moment at={new Date(memory.created_at)} />
      </span>
    </article>
  );
}

/** The text without the marks of Markdown that do not read well in one line: of headings, bold text and blocks of code. */
function withoutMarks(content: string): string {
  return content
    .replaceAll(/^(?:#{1,6}[ \t]+|```[\w-]*$)/gm, "")
    .replaceAll(/\*\*(?=\S)([^*\n]+)(?<=\S)\*\*/g, "$1");
}

/** Properties that are not the default, with links to the memories that share them. */
function Facts({
  memory,
  within,
}: {
  memory: Memory | FoundMemory;
  within: Pick<View, "project" | "unfiled" | "as_of">;
}) {
  const { tags, project, importance, pinned, superseded_by, expires_at } = memory;
  const to = (more: Partial<View>) => viewPath({ ...within, ...more });
  return (
    <>
      {"newer" in memory && memory.newer !== undefined && (
        <a href={memoryPath(memory.newer, within.as_of)}>There is a newer memory</a>
      )}
      {superseded_by !== null && (
        <a href={memoryPath(superseded_by)}>
          {within.as_of === "" ? "Superseded" : "Superseded by now"}
        </a>
      )}
      {memory.changed_since && <span class="badge">Changed since</span>}
      {pinned && <span class="badge pinned">Pinned</span>}
      {importance !== DEFAULT_IMPORTANCE && <span class="badge">{`Importance ${importance}`}</span>}
      {project !== null && project !== within.project && (
        <a href={viewPath({ project, as_of: within.as_of })}>
          <span class="hidden-text">Project </span>
          <bdi>{titleOf(project)}</bdi>
        </a>
      )}
      {tags.map((tag) => (
        <a class="tag" href={to({ tags: tag })}>
          <bdi>{tag}</bdi>
        </a>
      ))}
      <Author memory={memory} to={to} />
      {expires_at !== null && (
        <span>
          Expires <Moment at={new Date(expires_at)} />
        </span>
      )}
    </>
  );
}

/** Who saved the memory: the agent if it gave its name, else the key, app or person. */
function Author({ memory, to }: { memory: Memory; to: typeof viewPath }) {
  const { agent_id, source } = memory;
  const isCaptured = source?.via === "capture";
  if (agent_id === null && source === null) return Fragment({});
  const path = agent_id === null ? to({ source: source?.id ?? "" }) : to({ agent_id });
  return (
    <span>
      {isCaptured ? "captured by " : "by "}
      <a href={path}>
        <bdi>{titleOf(agent_id ?? source?.by ?? "")}</bdi>
      </a>
    </span>
  );
}

/** The matched passage, with the words of the question marked. */
function Passage({
  memory: { content, matched },
  mark,
}: {
  memory: FoundMemory;
  mark: (text: string) => readonly Piece[];
}) {
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

/** The score of a search result, and on request by what factor each part changes the odds that it answers. */
function Score({ score, explanation }: Pick<FoundMemory, "score" | "explanation">) {
  if (!explanation) return Fragment({});
  return (
    <details class="score">
      <summary>{`Score ${score.toFixed(2)}`}</summary>
      <p class="parts">
        {PARTS.filter((part) => Math.abs(explanation[part]) >= MIN_LOG_ODDS).map((part) => (
          <span>{`${LABELS[part]} ${factor(explanation[part])}`}</span>
        ))}
        <span>{`Retention ${percent(explanation.retention)}`}</span>
      </p>
    </details>
  );
}

/** Log-odds as the factor by which they multiply the odds. */
function factor(logOdds: number): string {
  const times = Math.exp(logOdds);
  return `×${times >= 10 ? Math.round(times) : times.toFixed(1)}`;
}
