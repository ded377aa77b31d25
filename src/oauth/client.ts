import type { JSONWebKeySet } from "jose";

/** A program that asks people for access to their memories. */
export interface Client {
  /** The id from its registration, or the address of its metadata document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** Its keys, if it signs. */
  readonly keys?: ClientKeys;
}

/** The public keys of a client. */
interface ClientKeys {
  /** The keys, or their address. */
  readonly source: JSONWebKeySet | string;
  /** Whether the client must sign, because its document names no other method. */
  readonly required: boolean;
}

const MAX_NAME = 80;

/**
 * A client's name for display: on one line, without control characters and changes of the writing
 * direction, and not too long. Null if nothing remains.
 */
export function cleanName(name: string): string | null {
  const clean = name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  const characters = [...clean];
  if (characters.length === 0) return null;
  return characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME - 1).join("")}…` : clean;
}

/** Whether a client's id is the address of its metadata document. */
export function isDocumentAddress(clientId: string): boolean {
  return clientId.startsWith("https://");
}
