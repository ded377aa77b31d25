import { type Config, LOG_LEVELS, type LogLevel } from "./config.ts";

type Fields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** One line per event on standard error. Never pass contents, keys or other secrets as fields. */
export type Log = Record<Exclude<LogLevel, "silent">, (event: string, fields?: Fields) => void>;

/** Makes the log that the settings ask for. `write` gets one whole line, without its line break. */
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
