/** The changelog's section about a version. */
interface VersionNotes {
  /** Three numbers; null for unreleased changes. */
  readonly version: string | null;
  /** Date of the release, such as 2026-11-22; null for unreleased changes. */
  readonly date: string | null;
  /** Markdown, without the heading. */
  readonly text: string;
}

const HEADING = /^## \[(?:Unreleased|(\d+\.\d+\.\d+))\](?: - (\d{4}-\d{2}-\d{2}))?$/;

/** The versions of a changelog in the format of Keep a Changelog, in the order of the file. */
export function readChangelog(markdown: string): VersionNotes[] {
  const sections: { version: string | null; date: string | null; lines: string[] }[] = [];
  for (const line of markdown.split("\n")) {
    const heading = HEADING.exec(line);
    if (heading)
      sections.push({ version: heading[1] ?? null, date: heading[2] ?? null, lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ lines, ...rest }) => ({ ...rest, text: lines.join("\n").trim() }));
}
