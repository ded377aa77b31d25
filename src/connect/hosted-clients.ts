/**
 * Services that reach a server from the internet: its address must be public and begin with https.
 * They know no keys, their people sign in.
 */
export const HOSTED_CLIENTS: readonly {
  readonly id: string;
  readonly name: string;
  /** What to do, given the address of the MCP endpoint: sentences. */
  readonly steps: (url: string) => readonly string[];
}[] = [
  {
    id: "claude-ai",
    name: "Claude (claude.ai, desktop and mobile)",
    steps: (url) => [
      "Open Customize, Connectors (in older versions Settings, Connectors), press + and choose “Add custom connector”.",
      `Enter the name ctxd and the address ${url}, and leave the rest empty.`,
      "Press Connect, sign in and allow.",
    ],
  },
  {
    id: "chatgpt",
    name: "ChatGPT",
    steps: (url) => [
      "Open https://chatgpt.com/plugins, press + and choose “Add custom MCP server”.",
      `Enter the name ctxd, the server URL ${url}, and choose OAuth.`,
      "Say that you understand the risk, and press “Create as a plugin”.",
      "Sign in and allow; in a conversation, choose ctxd from the + menu.",
    ],
  },
];
