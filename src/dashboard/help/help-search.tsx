/** @jsxRuntime automatic @jsxImportSource #pages */

import { HELP_PATH } from "../navigation.tsx";
import { type Section, sectionsOf } from "./markdown.ts";

/** A page of the help, in Markdown. Its name is also its path below `/help`. */
export interface HelpPage {
  readonly name: string;
  readonly label: string;
  readonly text: string;
}

interface Found extends Section {
  readonly page: HelpPage;
}

/** Longest question that is read, in UTF-16 units, and what is taken of it. */
const MAX_QUESTION = 200;
const MAX_WORDS = 8;
const MAX_RESULTS = 20;
/** Length of an excerpt, and what it has before the first word that is found. */
const EXCERPT = 220;
const BEFORE = 80;

/** Searches pages for words. Their sections are read at the first search. */
export function createHelpSearch(pages: readonly HelpPage[]) {
  let all: readonly Found[] | null = null;
  return (words: readonly string[]): readonly Found[] => {
    all ??= pages.flatMap((page) => sectionsOf(page.text).map((section) => ({ ...section, page })));
    const rated = all.map((section) => {
      const title = `${section.page.label} ${section.title}`.toLowerCase();
      const text = section.text.toLowerCase();
      const inTitle = words.reduce((sum, word) => sum + title.split(word).length - 1, 0);
      const found = words.filter((word) => title.includes(word) || text.includes(word)).length;
      const times = words.reduce((sum, word) => sum + text.split(word).length - 1, 0);
      return { section, found, inTitle, times };
    });
    // Sections with all words, or else with the most of them.
    const most = Math.max(1, ...rated.map(({ found }) => found));
    return rated
      .filter(({ found }) => found === most)
      .sort((a, b) => b.inTitle - a.inTitle || b.times - a.times)
      .slice(0, MAX_RESULTS)
      .map(({ section }) => section);
  };
}

/** The words of a question, in lower case. Of a plural only the singular, which is its beginning. */
export function wordsOf(question: string): readonly string[] {
  const words =
    question
      .slice(0, MAX_QUESTION)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [];
  return words.slice(0, MAX_WORDS).map((word) => word.replace(/(?<=\w{3})s$/, ""));
}

/** The form that searches the help. It needs no script. */
export function HelpSearchForm({ question = "" }: { question?: string }) {
  return (
    <search>
      <form action={HELP_PATH} class="help-search">
        <input
          type="search"
          name="q"
          value={question}
          aria-label="Search the help"
          placeholder="Search the help"
          maxlength={MAX_QUESTION}
        />
      </form>
    </search>
  );
}

/** The sections that were found: a link to each, and an excerpt with its words marked. */
export function HelpResults({
  words,
  results,
}: {
  words: readonly string[];
  results: readonly Found[];
}) {
  if (results.length === 0) return <p>Nothing found. Try fewer or other words.</p>;
  return (
    <ol class="help-results">
      {results.map(({ page, id, title, text }) => (
        <li>
          <a href={`${HELP_PATH}/${page.name}#${id}`}>
            {title === page.label ? title : `${page.label} › ${title}`}
          </a>
          <p>
            <Marked text={excerptOf(text, words)} words={words} />
          </p>
        </li>
      ))}
    </ol>
  );
}

/** A text with words marked. Words are letters, digits and underscores, so they mean themselves in a pattern. */
function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const parts = text.split(new RegExp(`(${words.join("|")})`, "giu"));
  return <>{parts.map((part, index) => (index % 2 === 1 ? <mark>{part}</mark> : part))}</>;
}

function excerptOf(text: string, words: readonly string[]): string {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const first = places.length > 0 ? Math.min(...places) : 0;
  const start = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  const end = text.length <= start + EXCERPT ? text.length : text.lastIndexOf(" ", start + EXCERPT);
  return `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
}
