/** @jsxRuntime automatic @jsxImportSource #pages */
import { diffArrays } from "diff";
import type { Memory } from "../../memories/model/memory.ts";
import { type Child, Fragment } from "../../pages/jsx-runtime.ts";
import { Moment } from "../../pages/moment.tsx";
import { excerptOf } from "../../text/excerpt.ts";
import { memoryPath } from "../navigation.tsx";

/** Consecutive words that both texts have, or only one of them. */
interface Run {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Longer texts are not compared. */
const MAX_CHARACTERS = 4_000;
/** Texts with more removed and added words are not compared: it would take more than 10 ms, and help nobody. */
const MAX_EDITS = 200;
/** The share of the shorter text that must be unchanged. Below it, a list of changes does not help. */
const MIN_SAME = 0.4;

const WORDS = new Intl.Segmenter("en", { granularity: "word" });

/**
 * The changes between two texts, word by word; `null` if the texts have too little in common or are too long to
 * compare.
 */
export function changedWords(before: string, after: string): Run[] | null {
  if (Math.max(before.length, after.length) > MAX_CHARACTERS) return null;
  const changes = diffArrays(wordsOf(before), wordsOf(after), {
    comparator: (one, other) => one.word === other.word,
    maxEditLength: MAX_EDITS,
  });
  if (!changes) return null;
  const runs = changes.map(
    ({ value, added, removed }): Run => ({
      kind: added ? "added" : removed ? "removed" : "same",
      text: value.map(({ text }) => text).join(""),
    }),
  );
  const same = runs.reduce((sum, { kind, text }) => sum + (kind === "same" ? text.length : 0), 0);
  return same >= MIN_SAME * Math.min(before.length, after.length) ? runs : null;
}

/** The words and punctuation marks of a text, each without and with the space after it. */
function wordsOf(text: string): { word: string; text: string }[] {
  const words: { word: string; text: string }[] = [];
  for (const { segment } of WORDS.segment(text)) {
    const word = segment.trim();
    const last = words.at(-1);
    if (last && word === "") last.text += segment;
    else words.push({ word, text: segment });
  }
  return words;
}

/** Versions shown on a page. */
export const MAX_VERSIONS = 10;

/** Characters shown of a version without a comparison. */
const EXCERPT = 160;
/** Unchanged characters shown before and after a change. */
const AROUND = 40;
/** Characters shown of one change. */
const MAX_CHANGED = 200;
/** Changes of other fields that are listed. */
const MAX_FACTS = 6;

/** The versions of a memory with their changes, newest first. Renders nothing if there is only one version. */
export function MemoryHistory({
  memory,
  history,
  current,
  day,
}: {
  memory: Memory;
  history: readonly Memory[];
  current: Memory;
  /** The day that the page shows; empty for the present. */
  day: string;
}) {
  if (history.length < 2) return Fragment({});
  const oldest = history.at(-1);
  return (
    <section>
      <h2>History</h2>
      <ol class="versions">
        {history.map((each, at) => (
          <Version
            version={each}
            former={history[at + 1]}
            isShown={each.id === memory.id}
            isCurrent={each.id === current.id}
            day={day}
          />
        ))}
      </ol>
      {history.length === MAX_VERSIONS && oldest?.supersedes && (
        <p class="hint">
          <a href={memoryPath(oldest.id, day)}>Older versions</a>
        </p>
      )}
    </section>
  );
}

function Version({
  version,
  former,
  isShown,
  isCurrent,
  day,
}: {
  version: Memory;
  former: Memory | undefined;
  isShown: boolean;
  isCurrent: boolean;
  day: string;
}) {
  const runs = former ? changedWords(former.content, version.content) : null;
  const facts = former ? changedFacts(former, version) : [];
  return (
    <li aria-current={isShown ? "true" : undefined}>
      <p class="faint">
        <Moment at={new Date(version.created_at)} />
        {isCurrent && (day === "" ? ", current" : ", held then")}
      </p>
      <a class="memory-text" href={memoryPath(version.id, day)}>
        <bdi>{runs ? <Changed runs={runs} /> : excerptOf(version.content, EXCERPT)}</bdi>
      </a>
      {facts.length > 0 && (
        <p class="faint">
          {facts.slice(0, MAX_FACTS).map((fact, at) => [at > 0 && ", ", fact])}
          {facts.length > MAX_FACTS && ` and ${facts.length - MAX_FACTS} more`}
        </p>
      )}
    </li>
  );
}

/** A text with its changes marked. Unchanged parts are shortened. */
function Changed({ runs }: { runs: readonly Run[] }) {
  if (runs.length < 2) return <>{excerptOf(runs[0]?.text ?? "", EXCERPT)}</>;
  return (
    <>
      {runs.map(({ kind, text }, at): Child => {
        if (kind === "removed") return <del>{shortenMiddle(text, MAX_CHANGED, 0)}</del>;
        if (kind === "added") return <ins>{shortenMiddle(text, MAX_CHANGED, 0)}</ins>;
        const [isFirst, isLast] = [at === 0, at === runs.length - 1];
        return shortenMiddle(text, isFirst ? 0 : AROUND, isLast ? 0 : AROUND);
      })}
    </>
  );
}

/** The first and last characters of a text, with an ellipsis between them. */
function shortenMiddle(text: string, first: number, last: number): string {
  const characters = [...text.replaceAll(/\s+/g, " ")];
  if (characters.length <= first + last + 1) return characters.join("");
  const end = last === 0 ? "" : characters.slice(-last).join("");
  return `${characters.slice(0, first).join("")}…${end}`;
}

/** The changes of other fields, in words. */
function changedFacts(former: Memory, version: Memory): Child[] {
  const { tags, project, importance, pinned } = version;
  const added = tags.filter((tag) => !former.tags.includes(tag));
  const removed = former.tags.filter((tag) => !tags.includes(tag));
  const facts: Child[] = [
    ...added.map((tag) => <Fact name="tag" value={tag} what="added" />),
    ...removed.map((tag) => <Fact name="tag" value={tag} what="removed" />),
  ];
  if (project !== former.project) {
    facts.push(
      project === null ? "no project now" : <Fact name="project" value={project} what="now" />,
    );
  }
  if (importance !== former.importance) {
    facts.push(`importance ${former.importance} → ${importance}`);
  }
  if (pinned !== former.pinned) facts.push(pinned ? "pinned" : "no longer pinned");
  return facts;
}

function Fact({ name, value, what }: { name: string; value: string; what: string }) {
  return (
    <>
      {name} “<bdi>{value}</bdi>” {what}
    </>
  );
}
