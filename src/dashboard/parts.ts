import type { Access } from "../access/access.ts";
import type { Activity } from "../activity/activity.ts";
import type { Recall } from "../capture/recall.ts";
import type { Config } from "../config/config.ts";
import type { Checks } from "../http/health.ts";
import type { Drain } from "../http/load/drain.ts";
import type { Room } from "../http/load/room.ts";
import type { Turns } from "../http/load/turns.ts";
import type { LastAgents } from "../http/record-event.ts";
import type { Keys } from "../keys/keys.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { Grants } from "../oauth/grants.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import type { SignInParts } from "../sign-in/routes.tsx";
import type { Hashing } from "../sign-in/sign-in.ts";
import type { Tidy } from "../tidy/tidy.ts";
import type { Undoable } from "../undo/undoable.ts";
import type { createAgentReports } from "../uses/agent-reports.ts";
import type { Uses } from "../uses/uses.ts";
import type { Guard } from "./guard.tsx";
import type { Live } from "./live/live.ts";
import type { Pages } from "./page-routes.tsx";
import type { Places } from "./place.ts";
import type { ServerStatus } from "./server-status.ts";
import type { ShownOnce } from "./session.ts";

/** The services that the dashboard uses. */
export interface DashboardParts extends Access, Omit<SignInParts, "pages"> {
  config: Pick<Config, "publicUrl" | "trustProxy" | "securityLogDays" | "passwords">;
  hashing: Hashing;
  keys: Keys;
  memories: Memories;
  checks: Checks;
  /** Null if the program does not report its status. */
  serverStatus: ServerStatus | null;
  lastAgents: LastAgents;
  /** Recalls as for an agent, without counting as activity. */
  recall: Recall;
  room: Room;
  turns: Pick<Turns, "step">;
  securityLog: SecurityLog;
  activity: Activity;
  uses: Uses;
  /** What each agent of an account brought, and what seems to be broken. */
  reportAgents: ReturnType<typeof createAgentReports>;
  undoable: Undoable;
  tidy: Tidy;
  drain: Pick<Drain, "onBegin">;
}

/** What the pages of the dashboard use. */
export interface Parts extends DashboardParts {
  guard: Guard;
  pages: Pages;
  grants: Grants;
  live: Live;
  shownOnce: ShownOnce;
  places: Places;
}
