import type { JSONWebKeySet } from "jose";

/** A program that asks people for access to their memories. */
export interface Client {
  /** What it was given when it registered, or the address of its metadata document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** What it signs with, if it does. */
  readonly keys?: ClientKeys;
}

/** The public keys of a client. */
interface ClientKeys {
  /** The keys, or the address that they are at. */
  readonly source: JSONWebKeySet | string;
  /** Whether it has to sign, because that is the one way that its document names. */
  readonly required: boolean;
}

const MAX_NAME = 80;

/**
 * A client's name as it may be shown: without control characters and those that turn the direction
 * of writing, on one line, not too long. Null when nothing is left.
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
