import type { Principal } from "../http/principal.ts";

/** On whose behalf one message is answered. */
export interface Session {
  readonly principal: Principal;
  /** The agent that new memories belong to when the call names none. */
  readonly agentId: string | null;
  /** The same key within 24 hours saves nothing new: a call may be sent again after a failure. */
  readonly idempotencyKey: string | undefined;
}
