import { type Client, type Fields, SERVER_NAME } from "./client.ts";
import { ConnectError } from "./connect-error.ts";
import { jsonFormat, writeJson } from "./json.ts";

/** Fields of an entry that let an agent use its tools without asking each time. */
const IN_ENTRY: Readonly<Record<string, Fields>> = {
  // https://developers.openai.com/codex/config-reference
  codex: { default_tools_approval_mode: "approve" },
  // https://geminicli.com/docs/tools/mcp-server
  gemini: { trust: true },
};

/** A permission rule for all tools of the server (https://code.claude.com/docs/en/permissions). */
const RULE = `mcp__${SERVER_NAME}`;
const RULES = ["permissions", "allow"] as const;

/** Agents that can be configured not to ask each time. */
export const AGENTS_WITH_APPROVAL: readonly string[] = ["claude-code", ...Object.keys(IN_ENTRY)];

/** The fields that an agent's entry needs for this; none for an agent that uses a rule. */
export function approvalFields({ id }: Pick<Client, "id">): Fields {
  return IN_ENTRY[id] ?? {};
}

/**
 * Adds the rule to the settings of Claude Code, or removes it.
 * @throws ConnectError when the settings are damaged; its message is the end of a sentence about the file
 */
export function writeApprovalRule(text: string, isAllowed: boolean): string {
  const rules = rulesIn(text);
  const at = rules.indexOf(RULE);
  if (isAllowed === at >= 0) return text;
  if (isAllowed) return writeJson(text, [...RULES, rules.length], RULE);
  return writeJson(text, rules.length > 1 ? [...RULES, at] : RULES, null);
}

function rulesIn(text: string): readonly unknown[] {
  const permissions = Object(Object(jsonFormat.read(text)).permissions);
  const rules: unknown = permissions.allow ?? [];
  if (Array.isArray(rules)) return rules;
  throw new ConnectError("has no list under permissions.allow: correct it first");
}
