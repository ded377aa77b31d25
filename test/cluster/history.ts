/** The state of a group of memories at one moment: contents by id. */
export type State = ReadonlyMap<string, string>;

/** A request about a group of memories, and its answer. */
export type Call =
  | { kind: "save"; memories: State }
  /** @param expects the content of the state that `If-Match` names */
  | { kind: "change"; id: string; content: string; expects: string | null; answer: ChangeAnswer }
  | { kind: "remove"; id: string; answer: "done" | "absent" | "unknown" }
  /**
   * @param count of removed memories; null without an answer
   * @param unseen the most of them whose saves had no answer, and which no other call has shown
   */
  | { kind: "clear"; count: number | null; unseen?: number }
  | { kind: "get"; id: string; content: string | null }
  | { kind: "all"; found: State };
export type ChangeAnswer = "done" | "mismatch" | "absent" | "unknown";

/** A call of a client, with the times of its beginning and its answer by one clock. */
export interface Event {
  call: Call;
  began: number;
  /** Infinity without an answer: the call may have taken effect at any later time, or never. */
  ended: number;
  /** For messages. */
  by: string;
}

/**
 * The state after a call, if the call can have been answered so in a state; null if not. Returns the same
 * state if the call changes nothing.
 */
export function apply(state: State, call: Call): State | null {
  switch (call.kind) {
    case "save":
      return [...call.memories.keys()].some((id) => state.has(id))
        ? null
        : new Map([...state, ...call.memories]);
    case "change":
      return change(state, call);
    case "remove":
      if (call.answer !== "unknown" && state.has(call.id) !== (call.answer === "done")) return null;
      return state.has(call.id) ? without(state, call.id) : state;
    case "clear":
      return isCountOf(state, call) ? new Map() : null;
    case "get":
      return (state.get(call.id) ?? null) === call.content ? state : null;
    case "all":
      return isSame(state, call.found) ? state : null;
  }
}

function change(state: State, { id, content, expects, answer }: Call & { kind: "change" }) {
  const present = state.get(id);
  const right =
    present === undefined
      ? "absent"
      : expects !== null && expects !== present
        ? "mismatch"
        : ("done" as const);
  if (answer !== right && answer !== "unknown") return null;
  return right === "done" ? new Map([...state, [id, content]]) : state;
}

function isCountOf({ size }: State, { count, unseen = 0 }: Call & { kind: "clear" }): boolean {
  return count === null || (count >= size && count <= size + unseen);
}

function without(state: State, id: string): State {
  const left = new Map(state);
  left.delete(id);
  return left;
}

function isSame(one: State, other: State): boolean {
  return one.size === other.size && [...one].every(([id, content]) => other.get(id) === content);
}

/**
 * Milliseconds for which reads that begin after a memory was last seen, and lack it, count. A lost memory stays lost.
 */
const GONE = 2_000;

/**
 * The calls of a group, separately for each of its memories. A list or a search is no snapshot: it may show
 * a later change of one memory and miss an earlier change of another. So it counts as one read of each
 * memory.
 */
export function byMemory(events: readonly Event[]): Event[][] {
  const ids = new Set(
    events.flatMap(({ call }) => (call.kind === "save" ? [...call.memories.keys()] : [])),
  );
  const seen = events.flatMap(({ call }) => (call.kind === "all" ? [...call.found.keys()] : []));
  for (const id of seen) ids.add(id);
  return [...ids].map((id) => {
    const shown = events.filter(({ call }) => shows(call, id));
    const last = Math.max(...shown.map(({ began }) => began));
    const first = Math.min(...shown.map(({ began }) => began));
    const own = events.flatMap((event) => {
      const call = callOn(event.call, id);
      const isBefore = event.ended < first && !shows(event.call, id);
      return call === null || isBefore ? [] : [{ ...event, call }];
    });
    const counts = ({ began }: Event) => began <= last + GONE;
    // A slow read that counts may lack the memory because of a removal that began after these milliseconds.
    const end = Math.max(...own.filter(counts).map(({ ended }) => (ended < Infinity ? ended : 0)));
    const mayExplain = ({ call, began }: Event) =>
      "answer" in call && call.answer === "unknown" && began <= end;
    return own.filter((event) => counts(event) || mayExplain(event));
  });
}

/** Whether an answer contains a memory. */
function shows(call: Call, id: string): boolean {
  if (call.kind === "save") return call.memories.has(id);
  if (call.kind === "all") return call.found.has(id);
  if (call.kind === "clear" || call.id !== id) return false;
  return call.kind === "get" ? call.content !== null : call.answer === "done";
}

function callOn(call: Call, id: string): Call | null {
  switch (call.kind) {
    case "save": {
      const content = call.memories.get(id);
      return content === undefined ? null : { kind: "save", memories: new Map([[id, content]]) };
    }
    case "all":
      return { kind: "get", id, content: call.found.get(id) ?? null };
    case "clear":
      return { kind: "remove", id, answer: "unknown" };
    default:
      return call.id === id ? call : null;
  }
}
