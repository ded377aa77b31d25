/**
 * Signals by which a server is told to stop. On Unix not SIGHUP: nohup would be in vain. Windows has
 * none, but Bun makes two of what its console sends: SIGBREAK of Ctrl-Break, and SIGHUP when the
 * window is closed, after which some seconds are left.
 */
export const STOP_SIGNALS: readonly StopSignal[] =
  process.platform === "win32"
    ? ["SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"]
    : ["SIGINT", "SIGTERM"];
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGBREAK" | "SIGHUP";

/** Whether SIGHUP asks a server to read its files again, as services are told on Unix. */
export const HAS_RELOAD_SIGNAL = process.platform !== "win32";
