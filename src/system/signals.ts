/**
 * Signals that stop a server. On Unix SIGHUP is not among them, so that nohup works. Windows has no
 * signals, but Bun translates two console events: Ctrl-Break to SIGBREAK, and closing the window to
 * SIGHUP, after which the program has a few seconds.
 */
export const STOP_SIGNALS: readonly StopSignal[] =
  process.platform === "win32"
    ? ["SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"]
    : ["SIGINT", "SIGTERM"];
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGBREAK" | "SIGHUP";

/** Whether SIGHUP makes a server read its files again, as is usual for services on Unix. */
export const HAS_RELOAD_SIGNAL = process.platform !== "win32";
