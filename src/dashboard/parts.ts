import type { Access } from "../access/access.ts";
import type { Activity } from "../activity/activity.ts";
import type { Config } from "../config/config.ts";
import type { Checks } from "../http/health.ts";
import type { Drain } from "../http/load/drain.ts";
import type { Room } from "../http/load/room.ts";
import type { Turns } from "../http/load/turns.ts";
import type { LastAgents, RecordEvent } from "../http/record-event.ts";
import type { Keys } from "../keys/keys.ts";
import type { Log } from "../log.ts";
import type { Memories } from "../memories/rules/memories.ts";
import type { Grants } from "../oauth/grants.ts";
import type { Cookies } from "../pages/cookies.ts";
import type { SecurityLog } from "../security-log/security-log.ts";
import type { WebAuthn } from "../sign-in/passkeys/webauthn.ts";
import type { Provider } from "../sign-in/providers/provider.ts";
import type { Proof } from "../sign-in/second-step/proof.ts";
import type { Visitors } from "../sign-in/sessions/visitor.ts";
import type { Hashing, SignIn } from "../sign-in/sign-in.ts";
import type { Undoable } from "../undo/undoable.ts";
import type { Guard } from "./guard.tsx";
import type { Live } from "./live/live.ts";
import type { Pages } from "./page-routes.tsx";
import type { ServerStatus } from "./server-status.ts";
import type { ShownOnce } from "./session.ts";

/** The services that the dashboard uses. */
export interface DashboardParts extends Access {
  config: Pick<Config, "publicUrl" | "trustProxy" | "securityLogDays" | "passwords">;
  cookies: Cookies;
  visitors: Visitors;
  signIn: SignIn;
  hashing: Hashing;
  webauthn: WebAuthn;
  proof: Proof;
  providers: readonly Provider[];
  keys: Keys;
  memories: Memories;
  checks: Checks;
  /** Null if the program does not report its status. */
  serverStatus: ServerStatus | null;
  lastAgents: LastAgents;
  log: Log;
  record: RecordEvent;
  room: Room;
  turns: Pick<Turns, "step">;
  securityLog: SecurityLog;
  activity: Activity;
  undoable: Undoable;
  drain: Pick<Drain, "onBegin">;
}

/** What the pages of the dashboard use. */
export interface Parts extends DashboardParts {
  guard: Guard;
  pages: Pages;
  grants: Grants;
  live: Live;
  shownOnce: ShownOnce;
}
