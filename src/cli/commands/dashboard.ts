import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { DASHBOARD_PATH, OpenDashboard } from "../../mcp/open-dashboard.ts";
import { openInBrowser } from "../../system/browser.ts";
import { openApi } from "../api.ts";
import { CommandError } from "../command-error.ts";
import type { Context, Environment } from "../context.ts";
import { examples } from "../help-text.ts";
import { print, say } from "../terminal.ts";

/** A page in the data folder that leads a browser to the dashboard. */
const LEADING_PAGE = "dashboard.html";

/** What `ctxd dashboard` is given. */
interface DashboardOptions {
  /** Whether a browser is opened. */
  browser?: boolean;
  json?: boolean;
}

/** Adds the command to the program. */
export function define(program: Command, { configure, env }: Context): void {
  program
    .command("dashboard")
    .alias("open")
    .summary("open the dashboard in a browser, also to make the owner's account")
    .description(
      "Opens the dashboard in a browser and prints its address. As long as the server has no owner, that is the link that makes the owner's account: nobody else knows it. When no server runs, one is started in the background; it ends some minutes after its last use.",
    )
    .option("--no-browser", "print the address alone")
    .option("--json", "print the address as JSON, and open no browser")
    .addHelpText("after", examples("ctxd open", "ctxd dashboard --no-browser"))
    .action((options: DashboardOptions) => openDashboard(configure(), options, env));
}

/**
 * `ctxd dashboard`: has the server of the data folder open its port, shows where the dashboard is,
 * and opens it in a browser where one can be opened.
 */
async function openDashboard(
  config: Config,
  { browser = true, json = false }: DashboardOptions,
  env: Environment,
): Promise<void> {
  const { address, setUp } = await askServer(config, env);
  if (json) return await print(JSON.stringify({ address, set_up: setUp }, null, 2));
  if (setUp !== null) {
    say("This server has no owner yet. Who opens this link first makes the owner's account:");
  }
  await print(setUp ?? address);
  const page = leadingPage(config, browser ? setUp : null);
  if (!browser) return;
  const isOpened = await openInBrowser(page ?? address, env);
  if (!isOpened && page !== null) rmSync(page, { force: true });
  say(isOpened ? "It opens in the browser." : "Open it in a browser on this machine.");
}

async function askServer(config: Config, env: Environment): Promise<OpenDashboard> {
  using api = await openApi(config, env, {});
  const response = await api.request(DASHBOARD_PATH, { method: "POST" });
  const answer: unknown = await response.json();
  if (Value.Check(OpenDashboard, answer)) return answer;
  throw new CommandError("The server of this data folder is another version: restart it.");
}

/**
 * Writes a page that leads on to a link with a secret: all users of a machine see the arguments of
 * a browser, nobody else reads this file. Null, and no file, where there is no secret.
 */
function leadingPage({ dataDir }: Config, link: string | null): string | null {
  const path = join(dataDir, LEADING_PAGE);
  rmSync(path, { force: true });
  if (link === null) return null;
  const html = `<!doctype html>
<meta charset="utf-8">
<title>ctxd</title>
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${Bun.escapeHTML(link)}">
<p><a href="${Bun.escapeHTML(link)}">Make the owner's account</a></p>
`;
  writeFileSync(path, html, { mode: 0o600, flag: "wx" });
  return path;
}
