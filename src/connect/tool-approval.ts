import { ConnectError, SERVER_NAME } from "./client.ts";
import { jsonFormat, removeJson, writeJson } from "./json.ts";

/** A permission rule for all tools of the server (https://code.claude.com/docs/en/permissions). */
const RULE = `mcp__${SERVER_NAME}`;
const RULES = ["permissions", "allow"] as const;

/** Whether the settings of Claude Code have the rule. */
export function hasApprovalRule(text: string): boolean {
  return rulesIn(text).includes(RULE);
}

/**
 * Adds the rule to the settings of Claude Code, or removes it.
 * @param former the settings before ctxd changed them; empty for a new file
 * @throws ConnectError when the settings are damaged; its message is the end of a sentence about the file
 */
export function writeApprovalRule(text: string, isAllowed: boolean, former = ""): string {
  const rules = rulesIn(text);
  const at = rules.indexOf(RULE);
  if (isAllowed === at >= 0) return text;
  if (isAllowed) return writeJson(text, [...RULES, rules.length], RULE);
  return removeJson(text, [...RULES, at], former);
}

function rulesIn(text: string): readonly unknown[] {
  const permissions = Object(Object(jsonFormat.read(text)).permissions);
  const rules: unknown = permissions.allow ?? [];
  if (Array.isArray(rules)) return rules;
  throw new ConnectError("has no list under permissions.allow: correct it first");
}
