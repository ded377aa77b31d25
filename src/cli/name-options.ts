import type { TSchema } from "@sinclair/typebox";
import { type Command, InvalidArgumentError } from "commander";
import { problemOf } from "../text/input-kinds.ts";

/** Makes a parser for an option whose value is a name, such as that of an agent or a project. */
export function nameParser(schema: TSchema): (name: string) => string {
  return (name) => {
    const problem = problemOf(schema, name);
    if (problem === null) return name;
    throw new InvalidArgumentError(`It ${problem}.`);
  };
}

/** Refuses `--project-only` without `--project`. */
export function checkProjectOnly(
  { project, projectOnly }: { project?: string; projectOnly?: boolean },
  command: Command,
): void {
  if (projectOnly && project === undefined) {
    command.error("error: --project-only goes with --project");
  }
}
