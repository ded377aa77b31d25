import { messageOf } from "../errors.ts";

/** The outcome of one check: one sentence, which also says how to mend what is wrong. */
export interface Finding {
  /** What was looked at, in one or two words. */
  check: string;
  /** A warning is nothing wrong yet. */
  state: "ok" | "warning" | "problem";
  message: string;
}

/** Makes findings of one check. */
export function findingsOf(check: string) {
  const of =
    (state: Finding["state"]) =>
    (message: string): Finding => ({ check, state, message });
  return { ok: of("ok"), warning: of("warning"), problem: of("problem") };
}

/** A sentence for an error, on one line and not too long. */
export function reasonOf(error: unknown): string {
  const text = messageOf(error);
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 300).replace(/\.$/, "");
}

/** A number of bytes as a person reads it. */
export function formatBytes(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
