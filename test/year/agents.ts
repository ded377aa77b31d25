import { createClient } from "../support/client.ts";
import { connectHttp, type McpClient, shownIn } from "../support/mcp.ts";
import { createHooks } from "./hooks.ts";
import type { YearServer } from "./server.ts";
import type { Exchange, Session, Year } from "./talk.ts";
import { PEOPLE } from "./truth.ts";

/** A line of a recalled text. */
export interface RecalledLine {
  id: string;
  content: string;
}

/** What an agent was told unasked at the beginning of a session, or for a prompt. */
export interface Recalled {
  session: Session;
  /** Null at the beginning. */
  exchange: Exchange | null;
  text: string;
  lines: RecalledLine[];
}

/** In one of so many sessions, hooks are processes of their own, as those of real agents are. */
const HOOKS_EVERY = 100;
const hasHooks = ({ number }: Session) => number % HOOKS_EVERY === 1;
/** Milliseconds after which the agent has answered, and after which its turn is captured. */
const ANSWERED_AFTER = 30_000;
const CAPTURED_AFTER = 45_000;

export type Agents = Awaited<ReturnType<typeof connectAgents>>;

/** The agents of all people: they call what the hooks of a real one call, and the tools. */
export async function connectAgents(server: YearServer, year: Year) {
  const clients = new Map(
    PEOPLE.map(({ name }) => [name, createClient(server.origin, server.keyOf(name))] as const),
  );
  const tools = new Map<string, McpClient>();
  for (const { name, agents } of PEOPLE) {
    for (const agent of agents) {
      const headers = { authorization: `Bearer ${server.keyOf(name)}`, "x-ctxd-agent": agent };
      tools.set(agent, await connectHttp("v2 new", server.origin, headers));
    }
  }
  const hooks = await createHooks(server);
  const clientOf = (person: string) => {
    const client = clients.get(person);
    if (!client) throw new Error(`nobody is called ${person}`);
    return client;
  };

  const post = async ({ person }: Session, path: string, json: unknown) => {
    const { status, body } = await clientOf(person.name).send("POST", `/memories/${path}`, {
      json,
    });
    if (status !== 200) throw new Error(`${path} failed: ${JSON.stringify(body)}`);
    return Object(body);
  };

  const recall = async (session: Session, exchange: Exchange | null): Promise<Recalled> => {
    const text = hasHooks(session)
      ? await hooks.recall(session, exchange)
      : await recallOverHttp(session, exchange);
    return { session, exchange, text, lines: linesOf(text) };
  };

  const recallOverHttp = async (session: Session, exchange: Exchange | null): Promise<string> => {
    const { text } = await post(session, "recall", {
      session_id: session.id,
      project: session.project.name,
      fresh: exchange === null,
      ...(exchange && { prompt: exchange.user }),
    });
    return text;
  };

  const capture = async (session: Session, { at, user, assistant }: Exchange) => {
    const turns = [
      { role: "user", content: user, at: new Date(at).toISOString() },
      { role: "assistant", content: assistant, at: new Date(at + ANSWERED_AFTER).toISOString() },
    ];
    const { agent, id: session_id, project } = session;
    if (!hasHooks(session)) {
      await post(session, "capture", { agent, session_id, project: project.name, turns });
      return;
    }
    const count = async () =>
      (await clientOf(session.person.name).list({ session_id })).memories.length;
    const before = await count();
    await hooks.capture(session, turns);
    while ((await count()) === before) await Bun.sleep(20);
  };

  const call = async (agent: string, tool: string, input: Record<string, unknown>) => {
    const result = await tools.get(agent)?.call(tool, input);
    if (!result || result.isError) throw new Error(`${tool} failed: ${result?.text}`);
    return result;
  };

  /** Saves as an agent does: it follows the advice to supersede if that is right. */
  const save = async (session: Session, { said, saved }: Exchange) => {
    if (!saved || !said) return;
    const { content, followsHint } = saved;
    const { fact } = said;
    const input = {
      content,
      project: fact.project,
      ...(fact.isPreference && { tags: ["preference"] }),
    };
    const { data } = await call(session.agent, "save_memory", input);
    const [advised] = String(data.hint ?? "").match(/(?<=supersedes: ")mem_\w+/) ?? [];
    if (!advised || !followsHint) return;
    const old = await clientOf(session.person.name).get(advised);
    if (year.saidIn(old.content)?.fact !== fact) return;
    await call(session.agent, "save_memory", { ...input, supersedes: advised });
  };

  /** Looks for what was said of a withdrawn fact, and deletes it. */
  const forget = async (session: Session, { said, deletes, user }: Exchange) => {
    if (!deletes || !said) return;
    const input = { query: user, project: said.fact.project ?? session.project.name };
    const found = shownIn(await call(session.agent, "search_memories", input));
    for (const { id, content } of found) {
      const about = year.saidIn(content);
      if (about?.fact === said.fact && about.version !== null)
        await call(session.agent, "delete_memory", { id });
    }
  };

  return {
    clientOf,
    call,
    /** The text of a prompt. */
    async prompt(agent: string, name: string, input: Record<string, string>): Promise<string> {
      const messages = (await tools.get(agent)?.prompt(name, input)) ?? [];
      return messages
        .map(({ content }) => (content.type === "text" ? content.text : ""))
        .join("\n");
    },
    /** Has a session, and returns what was recalled in it. */
    async hold(session: Session): Promise<Recalled[]> {
      await server.setClock(session.at);
      const recalled = [await recall(session, null)];
      for (const exchange of session.exchanges) {
        await server.setClock(exchange.at);
        recalled.push(await recall(session, exchange));
        await save(session, exchange);
        await forget(session, exchange);
        await server.setClock(exchange.at + CAPTURED_AFTER);
        await capture(session, exchange);
      }
      return recalled;
    },
    async close() {
      for (const each of tools.values()) await each.close();
      hooks.close();
    },
  };
}

const LINE = /^- \(.*?(mem_[0-9a-f]{32})\) (.*)$/;

function linesOf(text: string): RecalledLine[] {
  return text.split("\n").flatMap((line) => {
    const [, id, content] = LINE.exec(line) ?? [];
    return id !== undefined && content !== undefined ? [{ id, content }] : [];
  });
}
