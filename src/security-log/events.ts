/** How an event is shown, and how it is treated. */
interface EventKind {
  /** What a person reads in the list. */
  readonly label: string;
  /**
   * Whether anyone can cause it without having signed in. Such events are a warning in the log, and
   * in the table they can't push out the others.
   */
  readonly isForeign?: boolean;
  /** Lines that it may take in the log within a minute, where that is fewer than usual. */
  readonly lines?: number;
}

/**
 * Everything that the security log tells. A new event is a line here; its name is for good, since
 * it is in the table, in logs and in filters of other programs.
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
  key_refused: { label: "Revoked or expired API key refused", isForeign: true, lines: 1 },
  app_allowed: { label: "App allowed" },
  app_revoked: { label: "App disconnected" },
  token_reused: { label: "Used token came back: app disconnected" },
  access_revoked: { label: "All access revoked" },

  memories_exported: { label: "Memories exported" },
  memories_imported: { label: "Memories imported" },
  memories_deleted: { label: "Memories deleted by filter" },
  memories_moved: { label: "Memories moved to another project" },
  backup_created: { label: "Backup made" },
  backup_restored: { label: "Backup restored" },
} as const satisfies Record<string, EventKind>;

/** The name of an event. */
export type SecurityEvent = keyof typeof EVENTS;

/** Where an event came from: a page, the API (REST, MCP, OAuth), a program of the same user by the socket, `ctxd` on the command line, or the server by itself. */
export const WAYS = ["browser", "api", "local", "command", "server"] as const;
export type Way = (typeof WAYS)[number];

/** What an event is about. Nothing of it may be a secret, or a text that somebody typed to get in. */
export interface Facts {
  /**
   * The account that it is about; null where there is none, or where that is not known. Of a failed
   * sign-in it is the account that has the address, if one has it: what was typed is never passed,
   * because people type their password there.
   */
  readonly accountId: string | null;
  /** Who did it, where that is another account: the owner who removes a member, say. */
  readonly actorId?: string | null;
  readonly via: Way;
  /** The client's own IP address; null where it did not come over the network. */
  readonly address?: string | null;
  /** What the browser or program calls itself. */
  readonly agent?: string | null;
  /** The id of what was made, changed or ended, such as a key's. */
  readonly subjectId?: string | null;
  /** Its name, such as a key's. Any text: it is made harmless here. Never an e-mail address. */
  readonly subject?: string | null;
  /** How many, where it is about several: memories deleted, sessions ended. */
  readonly amount?: number | null;
}

export const isForeign = (event: SecurityEvent): boolean => "isForeign" in EVENTS[event];

/** Whether a text names an event. */
export const isEvent = (text: string): text is SecurityEvent => Object.hasOwn(EVENTS, text);
