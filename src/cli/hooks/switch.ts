import type { Environment } from "../context.ts";

/** Whether a hook is switched off: the environment variable of its `--if` option is not `true`. */
export function isOff(variable: string | undefined, env: Environment): boolean {
  return variable !== undefined && env[variable] !== "true";
}
