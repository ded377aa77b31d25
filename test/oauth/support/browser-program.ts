import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../support/until.ts";

/** A program in the place of the browser. It tells the test which pages other programs open. */
export function createBrowserProgram(folder: string) {
  const opened: string[] = [];
  let seen = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      opened.push(await request.text());
      return new Response();
    },
  });
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "xdg-open");
  const send = `await fetch("${server.url}", { method: "POST", body: process.argv.at(-1) })`;
  writeFileSync(path, `#!${process.execPath}\n${send};\n`, { mode: 0o755 });
  return {
    /** All pages opened so far. */
    opened,
    /** Variables by which programs find it. */
    env: { BROWSER: path, PATH: `${folder}:${process.env.PATH}` },
    /** The next page that is opened. */
    next: (): Promise<string> =>
      until("a page is opened", () => (opened.length > seen ? (opened[seen++] ?? null) : null)),
    close: () => server.stop(true),
  };
}
