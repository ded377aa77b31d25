import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepKey } from "../../src/cli/server/remote-server.ts";
import type { YearServer } from "./server.ts";
import type { Exchange, Session } from "./talk.ts";

const PROGRAM = join(import.meta.dir, "..", "..", "src", "main.ts");

/** The hooks of real agents: processes of `ctxd`, which send what they are told to the year's server. */
export async function createHooks(server: YearServer) {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-year-hooks-"));
  const url = new URL(server.origin);
  const run = async (command: "recall" | "capture", session: Session, event: object) => {
    const dataDir = join(folder, session.person.name);
    await keepKey({ dataDir }, url, server.keyOf(session.person.name));
    const options = ["--agent", session.agent, "--project", session.project.name];
    const child = Bun.spawn(
      [process.execPath, PROGRAM, command, ...options, "--url", url.origin, "--data-dir", dataDir],
      {
        stdin: new Blob([JSON.stringify({ session_id: session.id, ...event })]),
        stderr: "pipe",
        env: { HOME: folder, PATH: process.env.PATH },
      },
    );
    const [text, problem] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if (problem !== "") throw new Error(`the hook ${command} failed: ${problem}`);
    return text;
  };

  return {
    /** What a session begins with, or what comes for a prompt. */
    async recall(session: Session, exchange: Exchange | null): Promise<string> {
      const event = exchange
        ? { hook_event_name: "UserPromptSubmit", prompt: exchange.user }
        : { hook_event_name: "SessionStart", source: "startup" };
      const text = await run("recall", session, event);
      return text === ""
        ? ""
        : String(
            JSON.parse(text).hookSpecificOutput?.additionalContext ??
              JSON.parse(text).additional_context,
          );
    },
    /** Keeps turns, which a process in the background then sends. */
    async capture(session: Session, turns: readonly object[]): Promise<void> {
      await run("capture", session, { hook_event_name: "Stop", turns });
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
