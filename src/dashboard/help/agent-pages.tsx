/** @jsxRuntime automatic @jsxImportSource #pages */

import { type Client, DEFAULT_SIGN_IN, type Fields, type Places } from "../../connect/client.ts";
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

Your server needs [a public address with HTTPS](install.md#on-a-server-with-https).

${list.join("")}
Menus change; what you enter stays the same.
`;
    },
  })),
];

/** What is the same for every agent is on the page *Connect agents*. */
function clientPage(client: Client): string {
  const { id, name, hooks, plugin, reload, signIn, remark } = client;
  const launch = { command: "/usr/local/bin/ctxd", args: ["mcp", "--agent", id] };
  const code = (entry: Fields) =>
    `\`\`\`${client.format}\n${formats?.renderEntry(client, entry)}\n\`\`\``;
  const remembers = hooks || plugin ? " --capture --recall" : "";
  return `# ${name}

\`\`\`sh
ctxd connect ${id}${remembers}
\`\`\`

Then ${reload}.${signIn === DEFAULT_SIGN_IN ? "" : ` To sign in to [another server](agents.md#a-server-elsewhere): ${signIn}.`}

${[hooks?.note, remark].filter(Boolean).join(" ")}

[By hand](agents.md#by-hand), in ${placesOf(client.file)}:

${code(client.local(launch))}

${remoteOf(client, code)}
`;
}

/** The entries for a server elsewhere: one, if the entry by key differs by one field only. */
function remoteOf({ remote, addCommand }: Client, code: (entry: Fields) => string): string {
  const [withKey, signedIn] = [remote({ url: MCP, key: "ctx_…" }), remote({ url: MCP, key: null })];
  const bySignIn = addCommand ? `, or \`${addCommand.replace("URL", MCP)}\`` : "";
  const [added = "", ...others] = Object.keys(withKey).filter((name) => !(name in signedIn));
  const { [added]: _, ...rest } = withKey;
  return others.length === 0 && Bun.deepEquals(rest, signedIn)
    ? `For another server (to sign in, without \`${added}\`${bySignIn}):\n\n${code(withKey)}`
    : `For another server, by API key:\n\n${code(withKey)}\n\nBy sign-in${bySignIn}:\n\n${code(signedIn)}`;
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
  const agents = [
    ...CLIENTS.map(({ hooks, plugin, ...client }) => ({
      ...client,
      command: <code>{`ctxd connect ${client.id}`}</code>,
      remembers: hooks || plugin ? "yes" : "–",
    })),
    ...HOSTED_CLIENTS.map((client) => ({ ...client, command: "in its settings", remembers: "–" })),
  ];
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
        {agents.map(({ id, name, command, remembers }) => (
          <tr id={idOf(name)}>
            <td>
              <a href={`${HELP_PATH}/agents/${id}`}>{name}</a>
            </td>
            <td>{command}</td>
            <td data-label="by itself">{remembers}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
