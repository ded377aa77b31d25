/** How an event is shown and limited. */
interface EventKind {
  /** The name that people see. */
  readonly label: string;
  /**
   * Whether anyone can cause it without signing in. Such events are warnings in the log, and never push
   * other events out of the table.
   */
  readonly isForeign?: boolean;
  /** Lines in the log per minute, if fewer than usual. */
  readonly lines?: number;
}

/**
 * All events of the security log. A new event is a line here. Never change a name: the table, logs and
 * filters of other programs contain it.
 */
export const EVENTS = {
  signed_in: { label: "Signed in" },
  sign_in_failed: { label: "Sign-in failed", isForeign: true },
  sign_in_locked: { label: "Sign-in refused: too many tries", isForeign: true, lines: 1 },
  second_step_failed: { label: "Second step of a sign-in failed", isForeign: true },
  proof_failed: { label: "Confirmation by password or passkey failed", isForeign: true },
  signed_out: { label: "Signed out" },
  sessions_ended: { label: "Signed out elsewhere" },

  owner_set_up: { label: "Owner set up" },
  account_created: { label: "Account made" },
  account_removed: { label: "Account removed" },
  account_disabled: { label: "Account disabled" },
  account_enabled: { label: "Account enabled" },
  owner_changed: { label: "Owner changed" },
  quota_changed: { label: "Quota changed" },

  invitation_created: { label: "Invitation made" },
  invitation_used: { label: "Invitation used" },
  invitation_revoked: { label: "Invitation revoked" },

  space_created: { label: "Space made" },
  space_changed: { label: "Space changed" },
  space_deleted: { label: "Space deleted" },
  space_invited: { label: "Invitation into a space made" },
  space_uninvited: { label: "Invitation into a space revoked" },
  space_joined: { label: "Space joined" },
  space_left: { label: "Space left" },
  space_role_changed: { label: "Role in a space changed" },

  password_changed: { label: "Password changed" },
  password_removed: { label: "Password removed" },
  provider_connected: { label: "Sign-in provider connected" },
  provider_disconnected: { label: "Sign-in provider disconnected" },
  passkey_added: { label: "Passkey added" },
  passkey_removed: { label: "Passkey removed" },
  second_step_enabled: { label: "Codes as second step switched on" },
  second_step_disabled: { label: "Second step switched off" },
  recovery_codes_created: { label: "Recovery codes made" },
  recovery_code_used: { label: "Recovery code used" },

  key_created: { label: "API key made" },
  key_revoked: { label: "API key revoked" },
  key_paused: { label: "API key paused" },
  key_resumed: { label: "API key resumed" },
  key_refused: { label: "Revoked or expired API key refused", isForeign: true, lines: 1 },
  app_allowed: { label: "App allowed" },
  app_revoked: { label: "App disconnected" },
  app_paused: { label: "App paused" },
  app_resumed: { label: "App resumed" },
  token_reused: { label: "Used token came back: app disconnected" },
  access_revoked: { label: "All access revoked" },

  memories_exported: { label: "Memories exported" },
  memories_imported: { label: "Memories imported" },
  memories_deleted: { label: "Memories deleted by filter" },
  memories_moved: { label: "Memories moved to another project" },
  backups_changed: { label: "Schedule of backups changed" },
  backup_created: { label: "Backup made" },
  backup_restored: { label: "Backup restored" },
} as const satisfies Record<string, EventKind>;

/** The name of an event. */
export type SecurityEvent = keyof typeof EVENTS;

/**
 * The origin of an event: a page, the API (REST, MCP, OAuth), a program of the same user by the socket,
 * `ctxd` on the command line, or the server itself.
 */
const ORIGINS = ["browser", "api", "local", "command", "server"] as const;
export type EventOrigin = (typeof ORIGINS)[number];

/** The details of an event. They must contain no secret and no text that a person typed to sign in. */
export interface Facts {
  /**
   * The account of the event; null if none is known. For a failed sign-in: the account with the typed
   * address, if there is one. The typed text itself is never passed, because people type their password
   * there by mistake.
   */
  readonly accountId: string | null;
  /** Who caused it, if another account did: for example the owner who removes a member. */
  readonly actorId?: string | null;
  readonly via: EventOrigin;
  /** The client's IP address; null if it did not use the network. */
  readonly address?: string | null;
  /** The name that the browser or program gives itself. */
  readonly agent?: string | null;
  /** The id of what was created, changed or ended, such as a key's. */
  readonly subjectId?: string | null;
  /** Its name, such as a key's. Any text: it is sanitised here. Never an e-mail address. */
  readonly subject?: string | null;
  /** How many: memories deleted, sessions ended. */
  readonly amount?: number | null;
}

export const isForeign = (event: SecurityEvent): boolean => "isForeign" in EVENTS[event];

/** Whether a text names an event. */
export const isEvent = (text: string): text is SecurityEvent => Object.hasOwn(EVENTS, text);

/** An event as it is stored: sanitised, of limited size, and counted. */
export interface Entry extends Required<Facts> {
  readonly event: SecurityEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MAX_AGENT = 200;
const MAX_SUBJECT = 100;
/** Control and format characters, line separators, and unpaired surrogates. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Removes characters that could break or hide parts of a line, and limits the size. */
export function toEntry(event: SecurityEvent, facts: Facts, at: number): Entry {
  return {
    event,
    at,
    accountId: facts.accountId,
    actorId: facts.actorId === facts.accountId ? null : (facts.actorId ?? null),
    via: facts.via,
    address: facts.address ?? null,
    agent: harmless(facts.agent, MAX_AGENT),
    // Not every database can store them.
    subjectId: facts.subjectId?.replaceAll("\0", "\uFFFD") ?? null,
    subject: harmless(facts.subject, MAX_SUBJECT),
    amount: facts.amount ?? null,
  };
}

/** An entry for many events, which has only their name and account. */
export function withoutDetails(entry: Entry): Entry {
  return { ...entry, actorId: null, address: null, agent: null, subjectId: null, subject: null };
}

/** Events with the same name count as one within a minute. */
export function nameOf({ event, accountId, actorId, via, address, subjectId, subject }: Entry) {
  return JSON.stringify([event, accountId, actorId, via, address, subjectId, subject]);
}

/**
 * The fields of an event's line. Fields that anyone can choose come last and in quotes, so that they
 * can't deceive a pattern that matches from the start of the line.
 */
export function logFields(entry: Entry, times: number) {
  const { event, address, accountId, actorId, via, subjectId, subject, amount } = entry;
  return {
    kind: event,
    ...(address !== null && { address }),
    ...(accountId !== null && { account: accountId }),
    ...(actorId !== null && { by: actorId }),
    via,
    ...(times > 1 && { times }),
    ...(amount !== null && { amount }),
    ...(subjectId !== null && { id: subjectId }),
    ...(subject !== null && { name: subject }),
  };
}

/** Lines that an entry may have in the log per minute. Further events are only counted. */
export function linesPerMinute(event: SecurityEvent): number {
  const { lines } = { lines: 20, ...EVENTS[event] };
  return lines;
}

/** The group that shares a limit against floods: one account, or everyone who is not signed in. */
export function groupOf({ event, accountId }: Entry): string {
  return isForeign(event) ? "foreign" : (accountId ?? "none");
}

function harmless(text: string | null | undefined, longest: number): string | null {
  if (text === null || text === undefined) return null;
  return [...text.slice(0, 2 * longest)].slice(0, longest).join("").replaceAll(HARMFUL, "\uFFFD");
}
