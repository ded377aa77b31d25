import { join } from "node:path";
import { Glob } from "bun";

/** Where agents keep their transcripts: a folder, what moves it, and the files in it. */
const FOLDERS: Record<string, { home: string; variable?: string; patterns: readonly string[] }> = {
  "claude-code": {
    home: ".claude",
    variable: "CLAUDE_CONFIG_DIR",
    patterns: ["projects/*/*.jsonl"],
  },
  codex: {
    home: ".codex",
    variable: "CODEX_HOME",
    patterns: [
      "sessions/**/rollout-*.{jsonl,jsonl.zst}",
      "archived_sessions/rollout-*.{jsonl,jsonl.zst}",
    ],
  },
  gemini: { home: ".gemini", patterns: ["tmp/*/chats/session-*.{json,jsonl}"] },
};

/** The agents whose transcripts can be read by folder. */
export const TRANSCRIPT_AGENTS: readonly string[] = Object.keys(FOLDERS);

/**
 * The transcripts of an agent on this machine, the oldest first.
 * @throws what the system says when there is no such folder
 */
export async function listTranscripts(
  agent: string,
  { env, home }: { env: Record<string, string | undefined>; home: string },
): Promise<{ folder: string; paths: string[] }> {
  const place = FOLDERS[agent];
  if (!place) throw new Error(`no transcripts are known of ${agent}`);
  const folder = (place.variable && env[place.variable]) || join(home, place.home);
  const found = await Promise.all(
    place.patterns.map((pattern) =>
      Array.fromAsync(new Glob(pattern).scan({ cwd: folder, dot: true })),
    ),
  );
  const all = new Set(found.flat());
  const paths = [...all]
    .filter((path) => !/(^|\/)agent-[^/]*$/.test(path))
    // What was moved to the newer format is there twice.
    .filter((path) => !all.has(`${path}l`) || !path.endsWith(".json"))
    .map((path) => join(folder, path));
  const times = await Promise.all(
    paths.map(async (path) => ({ path, at: (await Bun.file(path).stat()).mtimeMs })),
  );
  times.sort((a, b) => a.at - b.at || (a.path < b.path ? -1 : 1));
  return { folder, paths: times.map(({ path }) => path) };
}
