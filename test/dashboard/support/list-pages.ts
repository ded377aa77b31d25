import type { Person } from "../../oauth/support/person.ts";

/** More pages than any test has: a list whose pages lead in a circle must not hang the test. */
const MAX_PAGES = 50;

/** The HTML of a page of a list and of all older pages, which its links "Older" lead to. */
export async function pagesOf(person: Pick<Person, "visit">, path: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next !== undefined; ) {
    if (pages.length === MAX_PAGES) throw new Error(`${path} has more than ${MAX_PAGES} pages`);
    const { text } = await person.visit(next);
    pages.push(text);
    next = /href="([^"]+)">Older/.exec(text)?.[1]?.replaceAll("&amp;", "&");
  }
  return pages;
}
