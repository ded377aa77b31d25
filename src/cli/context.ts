import type { Command } from "commander";
import type { Config } from "../config/config.ts";
import type { Flags } from "../config/settings.ts";

/** Example command lines for the end of a command's help. */
export function examples(...lines: readonly string[]): string {
  const heading = lines.length === 1 ? "Example" : "Examples";
  return `\n${heading}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Whether a word is the name of a command, or an alias. */
export function isCalled(command: Command, word: string): boolean {
  return command.name() === word || command.aliases().includes(word);
}

/** How commands that read or save memories choose the project, for the end of their help. */
export const PROJECT_NOTE = `In a folder of a git repository the project is the same as for ctxd mcp: owner/repo of the
remote origin, or else the name of the repository's folder. Elsewhere there is none.`;

/** The environment variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings.
 * @param flags the command's own flags, which win over the environment
 * @throws ConfigError for a setting that is malformed
 */
export type Configure = (flags?: Flags) => Config;

/** What a command gets from the command line. */
export interface Context {
  env: Environment;
  configure: Configure;
  /**
   * Reads the settings for a command that works on what is there, and creates no data folder.
   * @param target of the command; a remote server needs no folder
   * @throws CommandError when the data folder does not exist
   */
  configureExisting(target?: { url?: URL }): Config;
  /** Names of all commands that help shows, aliases included, in the order of the help. */
  names: readonly string[];
  /** Adds a command to the program, if it exists and is not there yet. */
  load(name: string): Promise<void>;
}

/** Adds a command, with its arguments, options, help and action, to the program. */
export type Define = (program: Command, context: Context) => void;
