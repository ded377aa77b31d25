import type { Memory } from "../../src/memories/model/memory.ts";
import { type Answer, createClient, type Sending } from "../support/client.ts";
import type { Random } from "../support/random.ts";
import { byMemory, type Call, type ChangeAnswer, type Event, type State } from "./history.ts";
import { explain } from "./linearizable.ts";

/** Milliseconds for which a write with an `Idempotency-Key` is repeated. */
const RETRY_MS = 60_000;
/** The most memories of a group that a list or a search returns. */
const MOST = 100;

interface Options {
  /** The origin of the next request, called before each. */
  origin: () => string;
  key: string;
  random: Random;
  groups: readonly string[];
}

export type RandomClients = ReturnType<typeof createRandomClients>;

/**
 * Clients of one account that save, change, remove, list, search and get memories of some groups, and
 * record the calls with their times. Failed requests are repeated only where that is safe.
 */
export function createRandomClients({ origin, key, random, groups }: Options) {
  const histories = new Map(groups.map((group) => [group, [] as Event[]]));
  /** Ids that were seen, and the ETags of their contents. */
  const seen = new Map(groups.map((group) => [group, new Set<string>()]));
  const etags = new Map<string, string>();
  const lost: LostSave[] = [];
  const counts = { calls: 0, failed: 0, retried: 0 };

  const send = async (method: string, path: string, sending: Sending = {}, at = origin()) => {
    counts.calls++;
    const answer = await request(at, key, [method, path], sending);
    if (answer === null) counts.failed++;
    return answer;
  };

  const note = (group: string, memory: Memory, answer: Answer | null = null) => {
    seen.get(group)?.add(memory.id);
    const etag = answer?.headers.get("etag");
    if (etag) etags.set(memory.content, etag);
  };

  /** Records a call. A read without an answer says nothing. */
  const record = async (by: string, group: string, call: () => Promise<Call | null>) => {
    const began = performance.now();
    const done = await call();
    if (done === null) return;
    const isOpen =
      ("answer" in done && done.answer === "unknown") || ("count" in done && done.count === null);
    const ended = isOpen ? Number.POSITIVE_INFINITY : performance.now();
    histories.get(group)?.push({ call: done, began, ended, by });
  };

  const save = async (by: string, group: string): Promise<Call | null> => {
    const began = performance.now();
    const contents = Array.from(
      { length: random.below(5) ? 1 : 3 },
      () => `${group} ${random.word()}`,
    );
    const memories = contents.map((content) => ({ content, session_id: group, tags: ["random"] }));
    // Without a key, only a single memory can be recognised if the answer is lost.
    const headers =
      contents.length > 1 || random.below(2) ? { "idempotency-key": random.word() } : {};
    const path = contents.length > 1 ? "/memories/batch" : "/memories";
    const json = contents.length > 1 ? { memories } : memories[0];
    let answer = await send("POST", path, { json, headers });
    while (
      answer === null &&
      "idempotency-key" in headers &&
      performance.now() < began + RETRY_MS
    ) {
      counts.retried++;
      await Bun.sleep(20);
      answer = await send("POST", path, { json, headers });
    }
    if (answer?.status !== 201) {
      // If the answer was lost, some memories may have been removed before the repetition.
      if (answer !== null && answer.status !== 409) throw unexpected("POST", answer);
      for (const content of contents) lost.push({ group, content, began, by });
      return null;
    }
    const saved = contents.length > 1 ? memoriesOf(answer) : [memoryOf(answer)];
    for (const memory of saved) note(group, memory, answer);
    return { kind: "save", memories: stateOf(saved) };
  };

  const change = async (group: string, id: string, before: string | null): Promise<Call> => {
    const content = `${group} ${random.word()}`;
    const etag = before === null ? undefined : etags.get(before);
    const expects = etag === undefined ? null : before;
    const headers = etag === undefined ? {} : { "if-match": etag };
    const answer = await send("PUT", `/memories/${id}`, { json: { content }, headers });
    const outcome = answerOf("PUT", answer, { 200: "done", 404: "absent", 412: "mismatch" });
    if (answer && outcome === "done") note(group, memoryOf(answer), answer);
    return { kind: "change", id, content, expects, answer: outcome };
  };

  const remove = async (id: string): Promise<Call> => {
    const answer = await send("DELETE", `/memories/${id}`);
    const outcome = answerOf("DELETE", answer, { 200: "done", 404: "absent" });
    return { kind: "remove", id, answer: outcome === "mismatch" ? "unknown" : outcome };
  };

  const clear = async (group: string): Promise<Call> => {
    const answer = await send("DELETE", `/memories?session_id=${group}&tags=random`);
    if (answer !== null && answer.status !== 200) throw unexpected("DELETE", answer);
    return { kind: "clear", count: answer && (answer.body as { deleted: number }).deleted };
  };

  const get = async (group: string, id: string): Promise<Call | null> => {
    const answer = await send("GET", `/memories/${id}`);
    if (answer === null) return null;
    if (answer.status === 404) return { kind: "get", id, content: null };
    if (answer.status !== 200) throw unexpected("GET", answer);
    note(group, memoryOf(answer), answer);
    return { kind: "get", id, content: memoryOf(answer).content };
  };

  /** Reads all of a group in one of several ways: none may be missing or extra. */
  const readAll = async (group: string, at = origin()): Promise<Call | null> => {
    const path = [
      `/memories?session_id=${group}&limit=${MOST}`,
      `/memories/search?q=${group}&session_id=${group}&mode=keyword&limit=${MOST}`,
    ][random.below(2)];
    const answer = await send("GET", path ?? "", {}, at);
    if (answer === null) return null;
    if (answer.status !== 200) throw unexpected("GET", answer);
    const found = memoriesOf(answer);
    for (const memory of found) note(group, memory);
    // There may be more than one page.
    if (found.length === MOST) return null;
    return { kind: "all", found: stateOf(found) };
  };

  const step = (by: string, group: string) => {
    const id = random.pick([...(seen.get(group) ?? [])].slice(-6));
    const choice = random.below(100);
    // Like a client that has read the memory some time ago.
    const before = lastContent(histories.get(group) ?? [], id);
    if (id === undefined || choice < 25) return record(by, group, () => save(by, group));
    if (choice < 45)
      return record(by, group, () => change(group, id, random.below(2) ? before : null));
    if (choice < 55) return record(by, group, () => remove(id));
    if (choice < 57) return record(by, group, () => clear(group));
    if (choice < 77) return record(by, group, () => get(group, id));
    return record(by, group, () => readAll(group));
  };

  return {
    counts,
    /**
     * Runs some clients until `isOver`.
     * @param pace milliseconds between two calls of a client
     */
    async run(clients: number, isOver: () => boolean, pace = 0): Promise<void> {
      const loop = async (by: string) => {
        for (; !isOver(); await Bun.sleep(pace)) await step(by, random.pick(groups) ?? "");
      };
      await Promise.all(Array.from({ length: clients }, (_, n) => loop(`client ${n}`)));
    },
    /** Reads all groups again from one server, so that no loss is overlooked. */
    async readEach(at: string): Promise<void> {
      for (const group of groups) await record(`all of ${at}`, group, () => readAll(group, at));
    },
    /** The calls that no order explains; null if there are none. */
    judge(): string | null {
      for (const [group, events] of histories) {
        const { found, unseen } = divide(
          lost.filter((each) => each.group === group),
          events,
        );
        const all = [...events.map((event) => withUnseen(event, unseen)), ...found];
        const alone = all.filter(({ call }) => call.kind !== "all");
        for (const part of [alone, ...byMemory(all)]) {
          const wrong = explain(part);
          if (wrong !== null) return `${group}: ${wrong}`;
        }
      }
      return null;
    },
  };
}

/** A save without an answer. */
interface LostSave {
  group: string;
  content: string;
  began: number;
  by: string;
}

/** Divides saves without an answer into those whose memories were seen later, and others, which may have failed. */
function divide(lost: readonly LostSave[], events: readonly Event[]) {
  const ids = new Map<string, string>();
  for (const { call } of events) {
    if (call.kind === "all") for (const [id, content] of call.found) ids.set(content, id);
    if (call.kind === "get" && call.content !== null) ids.set(call.content, call.id);
  }
  const unseen = lost.filter(({ content }) => !ids.has(content));
  const found = lost.flatMap(({ content, began, by }): Event[] => {
    const id = ids.get(content);
    if (id === undefined) return [];
    const call: Call = { kind: "save", memories: new Map([[id, content]]) };
    return [{ call, began, ended: Number.POSITIVE_INFINITY, by }];
  });
  return { found, unseen };
}

/** Removing a whole group also removes and counts memories that nobody has seen. */
function withUnseen(event: Event, unseen: readonly LostSave[]): Event {
  const { call, ended } = event;
  if (call.kind !== "clear") return event;
  const most = unseen.filter(({ began }) => began < ended).length;
  return { ...event, call: { ...call, unseen: most } };
}

function lastContent(events: readonly Event[], id: string | undefined): string | null {
  for (const { call } of events.toReversed().slice(0, 20)) {
    if (call.kind === "get" && call.id === id && call.content !== null) return call.content;
    if (call.kind === "change" && call.id === id && call.answer === "done") return call.content;
    if (call.kind === "save" && id !== undefined && call.memories.has(id)) {
      return call.memories.get(id) ?? null;
    }
  }
  return null;
}

/** Sends a request. Returns null for a 503 or no answer: then the effect is not known. */
async function request(
  origin: string,
  key: string,
  [method, path]: readonly [string, string],
  sending: Sending,
): Promise<Answer | null> {
  let answer: Answer;
  try {
    answer = await createClient(origin, key).send(method, path, sending);
  } catch {
    return null;
  }
  if (answer.status !== 503) return answer;
  if (!answer.headers.has("retry-after")) throw unexpected(method, answer);
  return null;
}

function answerOf(
  method: string,
  answer: Answer | null,
  meanings: Partial<Record<number, ChangeAnswer>>,
): ChangeAnswer {
  if (answer === null) return "unknown";
  const meaning = meanings[answer.status];
  if (meaning === undefined) throw unexpected(method, answer);
  return meaning;
}

const unexpected = (method: string, { status, body }: Answer) =>
  new Error(`${method} answered ${status}: ${JSON.stringify(body)}`);
const memoryOf = ({ body }: Answer) => body as Memory;
const memoriesOf = ({ body }: Answer) => (body as { memories: Memory[] }).memories;
const stateOf = (memories: readonly Memory[]): State =>
  new Map(memories.map(({ id, content }) => [id, content]));
