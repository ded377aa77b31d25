import type { Account } from "../../accounts/account.ts";
import type { ServerStatus } from "../server-status.ts";

/** The command that connects agents, as a person types it. */
export interface ConnectCommand {
  readonly command: string;
  /** Whether it uses the local socket of the server's machine, which needs no key. */
  readonly isHere: boolean;
}

/** @param words after `ctxd`, such as `connect --all` */
export type ConnectCommandOf = (account: Pick<Account, "role">, words: string) => ConnectCommand;

/**
 * Makes a function that returns the command for an account. The owner's agents on the server's machine use the local
 * socket; all others use the server's address.
 */
export function createConnectCommand({
  publicUrl,
  serverStatus,
}: {
  publicUrl: string;
  /** Null if the program does not report its status. */
  serverStatus: Pick<ServerStatus, "command" | "isForAgents"> | null;
}): ConnectCommandOf {
  return ({ role }, words) => {
    const isHere = role === "owner" && isLocal(publicUrl) && (serverStatus?.isForAgents ?? true);
    if (!isHere) return { isHere, command: `ctxd ${words} --url ${publicUrl}` };
    return { isHere, command: serverStatus?.command(words) ?? `ctxd ${words}` };
  };
}

/** Whether only programs on the server's machine can reach an address. */
export function isLocal(publicUrl: string): boolean {
  return /^(localhost$|127\.|\[::1\])/.test(new URL(publicUrl).hostname);
}
