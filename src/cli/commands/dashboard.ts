import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { DASHBOARD_PATH, OpenDashboard } from "../../local/local-socket.ts";
import { openInBrowser } from "../../system/browser.ts";
import { type Context, type Environment, examples } from "../context.ts";
import { openApi } from "../server/api.ts";
import { CommandError, print, printJson, say } from "../terminal.ts";

/** A page in the data folder that redirects a browser to the dashboard. */
const REDIRECT_PAGE = "dashboard.html";

interface DashboardOptions {
  /** Whether to open a browser. */
  browser?: boolean;
  json?: boolean;
}

export function define(program: Command, { configure, env }: Context): void {
  program
    .command("dashboard")
    .alias("open")
    .summary("open the dashboard in a browser, also to create the owner's account")
    .description(
      "Opens the dashboard in a browser and prints its address. While the server has no owner, the address is a secret link that creates the owner's account. If no server runs, one is started in the background; it ends some minutes after its last use.",
    )
    .option("--no-browser", "only print the address")
    .option("--json", "print the address as JSON, and open no browser")
    .addHelpText("after", examples("ctxd open", "ctxd dashboard --no-browser"))
    .action((options: DashboardOptions) => openDashboard(configure(), options, env));
}

/**
 * `ctxd dashboard`: asks the server of the data folder to open its port, prints the dashboard's address,
 * and opens it in a browser if there is one.
 */
async function openDashboard(config: Config, options: DashboardOptions, env: Environment) {
  const { browser = true, json = false } = options;
  const { address, setUp } = await askServer(config, env);
  if (json) return await printJson({ address, set_up: setUp });
  if (setUp !== null) {
    say(
      "This server has no owner yet. The first person to open this link creates the owner's account:",
    );
  }
  await print(setUp ?? address);
  const page = redirectPage(config, browser ? setUp : null);
  if (!browser) return;
  const isOpened = await openInBrowser(page ?? address, env);
  if (!isOpened && page !== null) rmSync(page, { force: true });
  say(isOpened ? "The browser opens it." : "Open it in a browser on this machine.");
}

async function askServer(config: Config, env: Environment): Promise<OpenDashboard> {
  using api = await openApi(config, env, {});
  const answer = await api.json<unknown>(DASHBOARD_PATH, { method: "POST" });
  if (Value.Check(OpenDashboard, answer)) return answer;
  throw new CommandError("The server of this data folder runs another version: restart it.");
}

/**
 * Writes a page that redirects to a link with a secret. All users of a machine can see a browser's
 * arguments, but no other user can read this file. Returns null, without a file, if there is no secret.
 */
function redirectPage({ dataDir }: Config, link: string | null): string | null {
  const path = join(dataDir, REDIRECT_PAGE);
  rmSync(path, { force: true });
  if (link === null) return null;
  const html = `<!doctype html>
<meta charset="utf-8">
<title>ctxd</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${Bun.escapeHTML(link)}">
<p><a href="${Bun.escapeHTML(link)}">Create the owner's account</a></p>
`;
  writeFileSync(path, html, { mode: 0o600, flag: "wx" });
  return path;
}
