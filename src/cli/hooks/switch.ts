import type { Environment } from "../context.ts";

/** Whether a hook does nothing, because the environment variable that switches it on is not `true`. */
export function isOff(variable: string | undefined, env: Environment): boolean {
  return variable !== undefined && env[variable] !== "true";
}
