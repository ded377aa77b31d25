import { SERVER_NAME } from "./client.ts";

/**
 * Commands of clients that add a remote server with sign-in to their settings, by the client's id. No
 * command contains a key, because other users of a machine see the arguments of every program.
 * @param url of the MCP endpoint
 */
export const ADD_COMMANDS: Readonly<Record<string, (url: string) => string>> = {
  "claude-code": (url) => addCommand("claude", url),
  gemini: (url) => addCommand("gemini", url),
  qwen: (url) => addCommand("qwen", url),
  amp: (url) => `amp mcp add ${SERVER_NAME} ${url}`,
  droid: (url) => `droid mcp add ${SERVER_NAME} ${url} --type http`,
};

function addCommand(program: string, url: string): string {
  return `${program} mcp add --scope user --transport http ${SERVER_NAME} ${url}`;
}
