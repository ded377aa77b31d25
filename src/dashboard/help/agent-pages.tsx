/** @jsxRuntime automatic @jsxImportSource #pages */

import type { Client, Places } from "../../connect/client.ts";
import { CLIENTS, HOSTED_CLIENTS } from "../../connect/clients.ts";
import { HELP_PATH } from "../navigation.tsx";

const SERVER = "https://memory.example.com";
const MCP = `${SERVER}/mcp`;

let formats: typeof import("../../connect/format.ts") | undefined;

/** Loads what the texts of the pages need. A server starts faster without it. */
export async function loadFormats(): Promise<void> {
  formats ??= await import("../../connect/format.ts");
}

/**
 * A help page for each agent, in Markdown, made of what `ctxd connect` knows about the agent. The texts need
 * `loadFormats`.
 */
export const AGENT_PAGES = [
  ...CLIENTS.map((client) => ({
    name: `agents/${client.id}`,
    label: client.name,
    get text() {
      return clientPage(client);
    },
  })),
  ...HOSTED_CLIENTS.map(({ id, name, steps }) => ({
    name: `agents/${id}`,
    label: name.replace(/ \(.*/, ""),
    get text() {
      const list = steps(MCP).map((step, index) => `${index + 1}. ${step}\n`);
      return `# ${name}

It connects from the internet to [a server with HTTPS](install.md#on-a-server-with-https): the address must be public, and
\`localhost\` is refused. \`ctxd doctor --url ${SERVER}\` checks it. Replace \`memory.example.com\` with your own name.

${list.join("")}
Its menus change from time to time. What you enter stays the same.
`;
    },
  })),
];

function clientPage(client: Client): string {
  const { id, name, hooks, plugin, reload, signIn, addCommand, remark } = client;
  const launch = { command: "/usr/local/bin/ctxd", args: ["mcp", "--agent", id] };
  const code = (entry: ReturnType<Client["remote"]>) =>
    `\`\`\`${client.format}\n${formats?.renderEntry(client, entry)}\n\`\`\``;
  const remembers = `
With [capture and recall](capture.md):

\`\`\`sh
ctxd connect ${id} --capture --recall
\`\`\`

${hooks?.note ?? ""}
`;
  return `# ${name}

On the same machine:

\`\`\`sh
ctxd connect ${id}
\`\`\`
${hooks || plugin ? remembers : ""}
Then ${reload}. \`ctxd connect ${id} --remove\` undoes everything.

${remark ?? ""}

## A server elsewhere

\`\`\`sh
ctxd connect ${id} --url ${SERVER}         # by sign-in
ctxd connect ${id} --url ${SERVER} --key   # by API key
\`\`\`

Then ${reload}. To sign in, ${signIn}. See [Several machines](machines.md).

## By hand

The settings are in ${placesOf(client.file)}. On the same machine:

${code(client.local(launch))}

Elsewhere, by sign-in${addCommand ? ` (or \`${addCommand.replace("URL", MCP)}\`)` : ""}:

${code(client.remote({ url: MCP, key: null }))}

By API key (nobody else may read the file: \`chmod 600\`):

${code(client.remote({ url: MCP, key: "ctx_…" }))}
`;
}

function placesOf({ linux, macos, windows }: Places): string {
  const others = Object.entries({ macOS: macos, Windows: windows })
    .filter(([, path]) => path !== linux)
    .map(([system, path]) => `${system}: \`${path}\``);
  return `\`${linux}\`${others.length > 0 ? ` (${others.join(", ")})` : ""}`;
}

/** The id that an agent's heading had when all were on one page. */
const idOf = (name: string) =>
  name
    .toLowerCase()
    .replaceAll(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/** All agents, with links to their pages. */
export function AgentTable() {
  return (
    <table>
      <thead>
        <tr>
          <th>agent</th>
          <th>command</th>
          <th>remembers by itself</th>
        </tr>
      </thead>
      <tbody>
        {CLIENTS.map(({ id, name, hooks, plugin }) => (
          <tr id={idOf(name)}>
            <td>
              <a href={`${HELP_PATH}/agents/${id}`}>{name}</a>
            </td>
            <td>
              <code>{`ctxd connect ${id}`}</code>
            </td>
            <td data-label="by itself">{hooks || plugin ? "yes" : "–"}</td>
          </tr>
        ))}
        {HOSTED_CLIENTS.map(({ id, name }) => (
          <tr id={idOf(name)}>
            <td>
              <a href={`${HELP_PATH}/agents/${id}`}>{name}</a>
            </td>
            <td>in its settings</td>
            <td data-label="by itself">–</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
