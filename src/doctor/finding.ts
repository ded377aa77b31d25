import { messageOf } from "../errors.ts";

/** The result of one check. `message` is one sentence, which also says how to fix a problem. */
export interface Finding {
  /** The name of the check, in one or two words. */
  check: string;
  /** A warning becomes a problem later. */
  state: "ok" | "warning" | "problem";
  message: string;
}

/** Returns functions that create the findings of a check. */
export function findingsOf(check: string) {
  const of =
    (state: Finding["state"]) =>
    (message: string): Finding => ({ check, state, message });
  return { ok: of("ok"), warning: of("warning"), problem: of("problem") };
}

/** The message of an error on one line of at most 300 characters. */
export function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 300).replace(/\.$/, "");
}

/** Formats a number of bytes for people. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
