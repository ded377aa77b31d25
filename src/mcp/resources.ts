import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import type { Log } from "../log.ts";
import type { Memories } from "../memories/rules/memories.ts";
import { firstLineOf } from "../text/short-text.ts";
import { describeMemory, fitMemories, LIST_LIMITS, RECENT, wholeMemory } from "./memory-text.ts";
import { withProtocolErrors } from "./prompts/protocol-errors.ts";
import { describeMemories } from "./reading-tools.ts";
import { inProject, type Session } from "./tool.ts";

/** Creates the resources by which a user gives memories to an agent. */
export function createResources(memories: Memories) {
  const recent = async (session: Session) => {
    const filter = inProject(session, { isCurrent: true, isCaptured: false });
    return (await memories.list(session.principal, { filter, limit: RECENT })).memories;
  };

  return {
    /** Registers the recent memories and each memory by its id. */
    offer(server: McpServer, session: Session, log: Log): void {
      const { principal } = session;
      const orExplain = <Result>(work: () => Promise<Result>) =>
        withProtocolErrors(session, log, work);

      server.registerResource(
        "recent",
        "memory://recent",
        {
          title: "Recent memories",
          description: `The ${RECENT} newest memories`,
          mimeType: "text/plain",
        },
        (uri) =>
          orExplain(async () => {
            const fitted = fitMemories(await recent(session), LIST_LIMITS);
            return contentsOf(uri, describeMemories(fitted) || "There are no memories yet.");
          }),
      );

      server.registerResource(
        "memory",
        new ResourceTemplate("memory://{id}", {
          list: () =>
            orExplain(async () => ({
              resources: (await recent(session)).map(({ id, content, updated_at }) => ({
                uri: `memory://${id}`,
                name: id,
                title: firstLineOf(content),
                mimeType: "text/plain",
                annotations: { lastModified: updated_at },
              })),
            })),
        }),
        { title: "A memory", description: "One memory, by its id", mimeType: "text/plain" },
        (uri, { id }) =>
          orExplain(async () => {
            const memory = await memories.get(principal, String(id));
            return contentsOf(uri, describeMemory(wholeMemory(memory)));
          }),
      );
    },
  };
}

function contentsOf({ href }: URL, text: string) {
  return { contents: [{ uri: href, mimeType: "text/plain", text }] };
}
