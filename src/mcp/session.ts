import type { Principal } from "../http/principal.ts";
import type { Filter } from "../memories/filter.ts";

/** On whose behalf one message is answered. */
export interface Session {
  readonly principal: Principal;
  /** The agent that new memories belong to when the call names none. */
  readonly agentId: string | null;
  /**
   * The project that is worked on: what is saved belongs to it when the call names none. It is the
   * one that the principal is bound to, if there is one.
   */
  readonly project: string | null;
  /** The conversation that new memories come from: as the transport knows it, not as a model says. */
  readonly sessionId: string | null;
  /** The same key within 24 hours saves nothing new: a call may be sent again after a failure. */
  readonly idempotencyKey: string | undefined;
  /** Whether the client wants the tools by which connectors search; see `isConnector`. */
  readonly isConnector: boolean;
}

/** A filter of what matters in the session's project, unless it names projects itself. */
export function inProject({ project }: Pick<Session, "project">, filter: Filter): Filter {
  return project === null || filter.projects ? filter : { ...filter, projects: [project, null] };
}
