import type { Account } from "../accounts/accounts.ts";
import type { ServerStatus } from "./server-status.ts";

/** What connects agents, as a person types it. */
export interface ConnectCommand {
  readonly command: string;
  /** Whether it is for the server's own machine, where no key is needed. */
  readonly isHere: boolean;
}

/** @param words after `ctxd`, such as `connect --all` */
export type ConnectCommandOf = (account: Pick<Account, "role">, words: string) => ConnectCommand;

/** Makes what tells how agents are connected: the owner's on the server's machine by its socket, others by its address. */
export function createConnectCommand({
  publicUrl,
  serverStatus,
}: {
  publicUrl: string;
  /** Null where no program tells of itself. */
  serverStatus: Pick<ServerStatus, "command" | "isForAgents"> | null;
}): ConnectCommandOf {
  return ({ role }, words) => {
    const isHere = role === "owner" && isLocal(publicUrl) && (serverStatus?.isForAgents ?? true);
    if (!isHere) return { isHere, command: `ctxd ${words} --url ${publicUrl}` };
    return { isHere, command: serverStatus?.command(words) ?? `ctxd ${words}` };
  };
}

/** Whether an address is for programs of the server's own machine alone. */
export function isLocal(publicUrl: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(new URL(publicUrl).hostname);
}
