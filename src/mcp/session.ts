import type { Principal } from "../http/principal.ts";
import type { Filter } from "../memories/model/filter.ts";

/** The context in which one message is answered. */
export interface Session {
  readonly principal: Principal;
  /** The agent of new memories, unless the call names one. */
  readonly agentId: string | null;
  /**
   * The current project: that of new memories, unless the call names one. For a principal that is
   * bound to a project it is always that project.
   */
  readonly project: string | null;
  /** The conversation of new memories. It comes from the transport, never from a model. */
  readonly sessionId: string | null;
  /** A repeated key saves nothing new within 24 hours, so that a failed call may be sent again. */
  readonly idempotencyKey: string | undefined;
  /** Whether to offer the connector tools `search` and `fetch`; see `isConnector`. */
  readonly isConnector: boolean;
}

/** Limits a filter to the session's project and memories without one, unless it names projects. */
export function inProject({ project }: Pick<Session, "project">, filter: Filter): Filter {
  return project === null || filter.projects ? filter : { ...filter, projects: [project, null] };
}
