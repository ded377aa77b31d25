import { appendFileSync, closeSync, fchmodSync, openSync, statSync, truncateSync } from "node:fs";
import { type Config, LOG_LEVELS, type LogLevel } from "./config/config.ts";

type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Logs one line for each event. Never pass contents, keys or other secrets as fields. */
export type Log = Record<Exclude<LogLevel, "silent">, (event: string, fields?: Fields) => void>;

/** Creates the log. `write` receives one line without its line break; by default it goes to stderr. */
export function createLog(
  { logLevel, logFormat }: Pick<Config, "logLevel" | "logFormat">,
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Log {
  const threshold = LOG_LEVELS.indexOf(logLevel);
  const format = logFormat === "json" ? formatJson : formatText;
  const at =
    (level: LogLevel) =>
    (event: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(level) >= threshold) write(format(level, event, fields));
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export const silentLog = createLog({ logLevel: "silent", logFormat: "text" });

function formatJson(level: LogLevel, event: string, fields: Fields): string {
  return JSON.stringify({ time: new Date().toISOString(), level, event, ...fields });
}

function formatText(level: LogLevel, event: string, fields: Fields): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        ` ${name}=${/^[\w./:-]+$/.test(`${value}`) ? value : JSON.stringify(value)}`,
    );
  return `${new Date().toISOString()} ${level} ${event}${pairs.join("")}`;
}

/** Largest size of the log file, in bytes. A larger file is emptied. */
const MAX_FILE_BYTES = 1 << 20;

/**
 * Creates a function that appends lines to a small file, which only its owner may read. If the file can't
 * be written, the lines are lost and the server goes on.
 */
export function createLogFile(path: string): (line: string) => void {
  return (line) => {
    try {
      const file = openSync(path, "a", 0o600);
      // Other users may have been allowed to read an existing file.
      fchmodSync(file, 0o600);
      closeSync(file);
      if (statSync(path).size > MAX_FILE_BYTES) truncateSync(path);
      appendFileSync(path, `${line}\n`);
    } catch {}
  };
}
