import { withoutRecalled } from "../observe.ts";
import type { Asked, Message, Reply, Tool } from "./api.ts";

/** An order, wherever it stands in what the user says. Those in recalled memories are none. */
const ORDER = /\b(REMEMBER|LOOKUP): ([^\n<"]+)/g;

const TOOLS = {
  REMEMBER: { name: "save_memory", input: (words: string) => ({ content: words }) },
  LOOKUP: { name: "search_memories", input: (words: string) => ({ query: words }) },
};

/** The tool by which Qwen Code and OpenClaw let the model call those of MCP servers. */
const BRIDGE = "tool_call";

/** Tools by which some programs let the model find those of MCP servers, once these have started. */
const FINDER = /^(ToolSearch|tool_search\w*|search_tools?)$/i;
const MAX_SEARCHES = 5;

/** The beginning of the prompt `distill`. What it asks for stands in the rest. */
const DISTIL = "which the user has asked for: distil";
/** A turn that is worth a fact, and the words of the known fact that it changes. */
const NOTE = /^ {2}User: NOTE(?: INSTEAD OF ([^:\n]+))?: (.+)$/gm;

/** A resource that a prompt names, and the tools that read those of MCP servers. */
const RESOURCE = /memory:\/\/\w+/;
const READER = /^read_?mcp_?resource/i;

/** The call that reads a resource, or finds the tool for it; null afterwards, and without such a tool. */
function read(uri: string, { tools, messages }: Asked, turn: readonly Message[]): Reply | null {
  const calls = turn.flatMap((message) => message.calls ?? []);
  if (calls.some(({ name }) => READER.test(name))) return null;
  const all = messages.map(({ text }) => text).join("\n");
  const reader = tools.find(({ name }) => READER.test(name));
  if (reader) {
    const server = all.includes("plugin:ctxd:ctxd") ? "plugin:ctxd:ctxd" : "ctxd";
    return { call: { name: reader.name, input: { server, uri } } };
  }
  const finder = tools.find(({ name }) => FINDER.test(name));
  const known = all.match(/\bReadMcpResourceTool\b/)?.[0];
  if (!finder || !known || calls.length >= MAX_SEARCHES) return null;
  return { call: { name: finder.name, input: { query: `select:${known}`, max_results: 5 } } };
}

/** The text of a result that is JSON with texts. */
function unpacked(text: string): string {
  return text.replaceAll("\\n", "\n").replaceAll('\\"', '"');
}

/** The facts to save of the prompt `distill`, as inputs of the tool. The last one has the metadata that it asks for. */
function factsToSave(said: string) {
  const metadata = JSON.parse(said.match(/\{"distilled_from":[^}]+\}/)?.[0] ?? "null");
  const notes = [...said.matchAll(NOTE)];
  return notes.map(([, words, content = ""], place) => {
    const known = words && said.match(`(mem_[0-9a-f]{32}) · [^\\n]*\\n {2}[^\\n]*${words}`)?.[1];
    const isLast = place === notes.length - 1;
    return {
      content,
      ...(known && { supersedes: known }),
      ...(isLast && metadata && { metadata }),
    };
  });
}

/**
 * The answer of a model that does literally what the last prompt says: `REMEMBER: fact` saves the fact,
 * `LOOKUP: words` searches for the words, and other prompts are only heard. With the tool's result it says
 * `DONE` and the result; without a tool, `NO TOOL`.
 */
export function replyTo({ tools, messages }: Asked): Reply {
  const lastAnswer = messages.findLastIndex(({ role, calls }) => role === "assistant" && !calls);
  const turn = messages.slice(lastAnswer + 1);
  const prompt = turn.filter(({ role }) => role === "user").map(({ text }) => text);
  const results = turn.filter(({ role }) => role === "tool");
  const resource = prompt.join("\n").match(RESOURCE)?.[0];
  const reading = resource && read(resource, { tools, messages }, turn);
  if (reading) return reading;
  const parts = resource ? results.map(({ text }) => unpacked(text)) : prompt;
  const said = parts.flatMap(withoutRecalled).join("\n");
  if (said.includes(DISTIL)) {
    const inputs = factsToSave(said);
    const next = inputs[countCalls(turn, "save_memory")];
    if (!next) return { text: `DONE ${results.at(-1)?.text.slice(0, 1_500)}` };
    return use("save_memory", next, { tools, messages }, results);
  }
  const order = [...said.matchAll(ORDER)].at(-1);
  if (!order) return { text: `HEARD ${prompt.at(-1)?.slice(-80) ?? ""}` };
  const [, word = "", words = ""] = order;
  const { name, input } = TOOLS[word as keyof typeof TOOLS];
  if (countCalls(turn, name) > 0 && results.length > 0) {
    return { text: `DONE ${results.at(-1)?.text.slice(0, 1_500)}` };
  }
  return use(name, input(words.trim()), { tools, messages }, results);
}

/** The call of a tool of ctxd, or the search for it. */
function use(
  name: string,
  input: object,
  { tools, messages }: Asked,
  results: readonly Message[],
): Reply {
  const call = callOf(name, input, tools, results);
  if (call) return call;
  const finder = tools.find((tool) => FINDER.test(tool.name));
  if (!finder || results.length >= MAX_SEARCHES) return { text: `NO TOOL ${name}` };
  const [known] = messages.flatMap(({ text }) => text.match(/\b[\w-]*ctxd[\w-]*_memor\w+/g) ?? []);
  const query = known ? `select:${known.replace(/[a-z]+_memor\w+$/, name)}` : `ctxd ${name}`;
  return { call: { name: finder.name, input: { query, max_results: 5 } } };
}

/** Whether an answer looks for a tool. */
export function isSearch(reply: Reply): boolean {
  return "call" in reply && FINDER.test(reply.call.name);
}

function countCalls(turn: readonly Message[], tool: string): number {
  const calls = turn.flatMap((message) => message.calls ?? []);
  return calls.filter(
    ({ name, input }) =>
      name.endsWith(tool) || (name === BRIDGE && JSON.stringify(input).includes(tool)),
  ).length;
}

/** The call of a tool of ctxd, by its own name or by a bridge; null if the model can't call it. */
function callOf(
  wanted: string,
  input: object,
  tools: readonly Tool[],
  results: readonly Message[],
): Reply | null {
  const pattern = new RegExp(`(^|[_./-])${wanted}$`);
  const tool = tools.find(({ name }) => pattern.test(name));
  if (tool) {
    const { name, namespace } = tool;
    return { call: { name, ...(namespace !== undefined && { namespace }), input } };
  }
  const bridge = tools.find(({ name }) => name === BRIDGE);
  if (!bridge) return null;
  if (!JSON.stringify(bridge.definition).includes('"args"')) {
    return { call: { name: BRIDGE, input: { name: `mcp__ctxd__${wanted}`, arguments: input } } };
  }
  // OpenClaw's model knows no names of MCP servers' tools until it has searched.
  const found = results.map(({ text }) => text).join("\n");
  const id = found.match(`[\\w:.-]*ctxd[\\w:.-]*${wanted}`)?.[0];
  return id === undefined ? null : { call: { name: BRIDGE, input: { id, args: input } } };
}
