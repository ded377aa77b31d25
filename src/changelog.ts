/** What the changelog says of a version. */
export interface VersionNotes {
  /** Three numbers; null for what is not released yet. */
  readonly version: string | null;
  /** The day of the release, as 2026-11-22. */
  readonly date: string | null;
  /** Markdown, without the heading. */
  readonly text: string;
}

const HEADING = /^## \[(?:Unreleased|(\d+\.\d+\.\d+))\](?: - (\d{4}-\d{2}-\d{2}))?$/;

/** The versions of a changelog in the format of Keep a Changelog, newest first, as they stand there. */
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
