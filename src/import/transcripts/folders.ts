import { join } from "node:path";
import { Glob } from "bun";

/** The project of a folder of this machine; null if it has none. */
export type ProjectOf = (folder: string) => Promise<string | null>;

/** Asks once for each folder, because a transcript names the same one in each turn. */
export function rememberProjects(projectOf: ProjectOf): ProjectOf {
  const known = new Map<string, string | null>();
  return async (folder) => {
    const before = known.get(folder);
    if (before !== undefined) return before;
    const project = await projectOf(folder);
    known.set(folder, project);
    return project;
  };
}

/** Where agents store transcripts: their folder, the variable that moves it, and the files. */
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

/** The transcript of a session of Kimi Code, whose hooks do not name it; null if there is none. */
export async function findKimiTranscript(
  session: string,
  { env, home }: { env: Record<string, string | undefined>; home: string },
): Promise<string | null> {
  if (!/^[\w-]+$/.test(session)) return null;
  const folder = env.KIMI_CODE_HOME || join(home, ".kimi-code");
  const files = new Glob(`sessions/*/${session}/agents/main/wire.jsonl`);
  const [path] = await Array.fromAsync(files.scan({ cwd: folder })).catch(() => []);
  return path === undefined ? null : join(folder, path);
}

/** The agents whose transcripts can be imported from this machine. */
export const TRANSCRIPT_AGENTS: readonly string[] = Object.keys(FOLDERS);

/**
 * The transcripts of an agent on this machine, oldest first.
 * @throws the system's error when the folder does not exist
 */
export async function listTranscripts(
  agent: string,
  { env, home }: { env: Record<string, string | undefined>; home: string },
): Promise<{ folder: string; paths: string[] }> {
  const known = FOLDERS[agent];
  if (!known) throw new Error(`the transcripts of ${agent} are not supported`);
  const folder = (known.variable && env[known.variable]) || join(home, known.home);
  const found = await Promise.all(
    known.patterns.map((pattern) =>
      Array.fromAsync(new Glob(pattern).scan({ cwd: folder, dot: true })),
    ),
  );
  const all = new Set(found.flat());
  const paths = [...all]
    .filter((path) => !/(^|\/)agent-[^/]*$/.test(path))
    // Gemini CLI keeps the `.json` file of a session that it has converted to `.jsonl`.
    .filter((path) => !all.has(`${path}l`) || !path.endsWith(".json"))
    .map((path) => join(folder, path));
  const times = await Promise.all(
    paths.map(async (path) => ({ path, at: (await Bun.file(path).stat()).mtimeMs })),
  );
  times.sort((a, b) => a.at - b.at || (a.path < b.path ? -1 : 1));
  return { folder, paths: times.map(({ path }) => path) };
}
