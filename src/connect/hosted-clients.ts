/**
 * Services that connect to a server from the internet, so its address must be public and use https. Their
 * users sign in instead of using a key.
 */
export const HOSTED_CLIENTS: readonly {
  readonly id: string;
  readonly name: string;
  /** The steps to connect, as sentences, for the address of the MCP endpoint. */
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
      "Confirm that you understand the risk, and press “Create as a plugin”.",
      "Sign in and allow; in a conversation, choose ctxd from the + menu.",
    ],
  },
];
