import type { Asked, Message, Reply, Tool } from "./api.ts";

/**
 * What the prompt orders, at the beginning of a line. Recalled memories stand in lines that begin otherwise, so
 * that an order of an earlier conversation is none now.
 */
const ORDER = /(?:^"?|>)[ \t]*(REMEMBER|LOOKUP): ([^\n<"]+)/gm;

const TOOLS = {
  REMEMBER: { name: "save_memory", input: (words: string) => ({ content: words }) },
  LOOKUP: { name: "search_memories", input: (words: string) => ({ query: words }) },
};

/** Tools by which some programs let the model call those of MCP servers, and their inputs. */
const BRIDGES: Readonly<Record<string, (tool: string, input: object) => object>> = {
  tool_call: (tool, input) => ({ name: `mcp__ctxd__${tool}`, arguments: input }),
  use_mcp_tool: (tool, input) => ({
    server_name: "ctxd",
    tool_name: tool,
    arguments: JSON.stringify(input),
  }),
  mcp: (tool, input) => ({ server: "ctxd", tool, args: JSON.stringify(input) }),
};

/** Tools by which some programs let the model find those of MCP servers. */
const FINDER = /^(ToolSearch|tool_search\w*|search_tools?)$/i;

/**
 * The answer of a model that does literally what the last prompt says: `REMEMBER: fact` saves the fact,
 * `LOOKUP: words` searches for the words, and other prompts are only heard. With the tool's result it says
 * `DONE` and the result; without a tool, `NO TOOL`.
 */
export function replyTo({ tools, messages }: Asked): Reply {
  const lastAnswer = messages.findLastIndex(({ role, calls }) => role === "assistant" && !calls);
  const turn = messages.slice(lastAnswer + 1);
  const prompt = turn.filter(({ role }) => role === "user").map(({ text }) => text);
  const order = [...prompt.join("\n").matchAll(ORDER)].at(-1);
  if (!order) return { text: `HEARD ${prompt.at(-1)?.slice(-80) ?? ""}` };
  const [, word = "", words = ""] = order;
  const { name, input } = TOOLS[word as keyof typeof TOOLS];
  const results = turn.filter(({ role }) => role === "tool");
  if (wasCalled(turn, name) && results.length > 0) {
    return { text: `DONE ${results.at(-1)?.text.slice(0, 1_500)}` };
  }
  return (
    callOf(name, input(words.trim()), tools, results.length > 0) ?? { text: `NO TOOL ${name}` }
  );
}

function wasCalled(turn: readonly Message[], tool: string): boolean {
  const calls = turn.flatMap((message) => message.calls ?? []);
  return calls.some(
    ({ name, input }) =>
      name.endsWith(tool) || (name in BRIDGES && JSON.stringify(input).includes(tool)),
  );
}

/** @param hasSearched whether the finder was already called */
function callOf(
  wanted: string,
  input: object,
  tools: readonly Tool[],
  hasSearched: boolean,
): Reply | null {
  const named = (pattern: RegExp) => tools.find(({ name }) => pattern.test(name));
  const call = (tool: Tool | undefined, args: object): Reply | null => {
    if (!tool) return null;
    const { name, namespace } = tool;
    return { call: { name, ...(namespace !== undefined && { namespace }), input: args } };
  };
  const found = call(named(new RegExp(`(^|[_./-])${wanted}$`)), input);
  if (found) return found;
  const query = { query: `select:mcp__ctxd__${wanted}`, max_results: 5 };
  const searched = hasSearched ? null : call(named(FINDER), query);
  if (searched) return searched;
  const bridge = tools.find(({ name }) => name in BRIDGES);
  return call(bridge, BRIDGES[bridge?.name ?? ""]?.(wanted, input) ?? {});
}
