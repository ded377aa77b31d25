import { type Remote, SERVER_NAME } from "./clients.ts";

/** Commands of clients that add a server elsewhere to their configuration, by the client's id. */
export const ADD_COMMANDS: Readonly<Record<string, (remote: Remote) => string>> = {
  "claude-code": (remote) => addCommand("claude", remote, "claude-code"),
  gemini: (remote) => addCommand("gemini", remote, "gemini"),
};

function addCommand(program: string, { url, key }: Remote, agent: string): string {
  const headers = key === null ? [] : [`Authorization: Bearer ${key}`, `ctxd-agent: ${agent}`];
  return [
    `${program} mcp add --scope user --transport http ${SERVER_NAME} ${url}`,
    ...headers.map((header) => `--header "${header}"`),
  ].join(" \\\n  ");
}
