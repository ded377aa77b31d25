import { LIMITS } from "../../src/memories/model/memory.ts";
import type { Access } from "./access-rows.ts";
import { asks, type Case, calls, reads, sends } from "./case.ts";
import type { Edge } from "./edges.ts";

/** Bytes of the largest body that one request may have, but for imports. */
const LARGEST = 1 << 20;
const SEARCH = "/api/memories/search";

/** The dearest requests about the memories of an account; those that delete everything come last. */
export function memoryCases(edge: Edge): Case[] {
  return [...pages(edge), ...api(edge), ...tools(edge), ...changes(edge), ...removals(edge)];
}

const filtersOf = ({ tag, project, sessionId, agent }: Edge) =>
  [
    { tags: tag },
    { project },
    { session_id: sessionId },
    { agent_id: agent },
    { captured: "true" },
    { tags: tag, project, created_before: "2099-01-01T00:00:00Z" },
  ].map((filter) => new URLSearchParams(filter));

const idsOf = ({ ids }: Edge) => ids.slice(0, 3);

function pages(edge: Edge): Case[] {
  const { question, project, tag } = edge;
  const [id = ""] = edge.ids;
  const q = encodeURIComponent(question);
  return [
    ...reads(edge, "/welcome"),
    ...reads(edge, "/welcome/save"),
    ...reads(edge, "/welcome/ask", `/welcome/ask?q=${q}`),
    ...reads(edge, "/map"),
    ...reads(edge, "/map/points"),
    ...reads(edge, "/map/texts", `/map/texts?ids=${edge.ids.slice(0, 64)}`),
    ...reads(
      edge,
      "/memories",
      "/memories",
      `/memories?q=${q}`,
      `/memories?q=${q}&rest=1&history=1`,
      `/memories?project=${project}`,
      `/memories?tags=${tag}`,
      "/memories?only=important",
      "/memories?only=secret",
      "/memories?only=expiring",
      "/memories?sort=importance",
    ),
    ...reads(edge, "/palette"),
    ...reads(edge, "/memories/:id", ...idsOf(edge).map((each) => `/memories/${each}`)),
    ...reads(edge, "/memories/:id/delete", `/memories/${id}/delete`),
    ...reads(edge, "/memories/:id/edit", `/memories/${id}/edit`),
    ...reads(edge, "/memories/export"),
    ...reads(edge, "/memories/export/offer"),
    ...reads(edge, "/memories/import"),
    ...reads(edge, "/projects"),
    ...reads(edge, "/memories/new", `/memories/new?supersedes=${id}`),
    ...reads(edge, "/events", "/events?of=memories"),
  ];
}

function api(edge: Edge): Case[] {
  const { question, project } = edge;
  const q = encodeURIComponent(question);
  const prompt = "Why is it so? ".repeat((LARGEST - 100) / 14);
  const recall = (body: object) => asks(edge, "POST /api/memories/recall", body);
  return [
    ...reads(
      edge,
      SEARCH,
      `${SEARCH}?q=${q}&limit=100&explain=true`,
      `${SEARCH}?q=${q}&limit=100&mode=keyword&include_superseded=true`,
      `${SEARCH}?q=${q}&limit=100&mode=semantic`,
      `${SEARCH}?q=${q}&known=true`,
      `${SEARCH}?q=what+did+we+decide+last+week&limit=100`,
      `${SEARCH}?q=${encodeURIComponent("the ".repeat(LIMITS.query / 4))}&mode=keyword`,
      ...filtersOf(edge).map((filter) => `${SEARCH}?q=${q}&limit=100&${filter}`),
    ),
    ...reads(
      edge,
      "/api/memories",
      "/api/memories?limit=100",
      "/api/memories?limit=100&include_superseded=true",
      ...filtersOf(edge).map((filter) => `/api/memories?limit=100&${filter}`),
    ),
    ...reads(edge, "/api/memories/:id", ...idsOf(edge).map((id) => `/api/memories/${id}`)),
    ...reads(
      edge,
      "/api/memories/:id/history",
      ...idsOf(edge).flatMap((id) =>
        [1, 100].map((limit) => `/api/memories/${id}/history?limit=${limit}`),
      ),
    ),
    ...reads(edge, "/api/memories/export"),
    ...reads(edge, "/api/stats"),
    recall({ project, explain: true }),
    recall({ project, prompt: question, session_id: "1" }),
    recall({ prompt }),
    // The embedding is cached now, so that nothing interrupts the work on the prompt.
    recall({ prompt }),
  ];
}

function tools(edge: Edge): Case[] {
  const { question, project } = edge;
  const [id = ""] = edge.ids;
  const most = { limit: LIMITS.page, max_tokens: 50_000 };
  return [
    calls(edge, "recall_context", { project }),
    calls(edge, "recall_context", { project, max_tokens: 50_000 }),
    calls(edge, "search_memories", { query: question, ...most }),
    calls(edge, "search_memories", { query: question, project, ...most }),
    calls(edge, "list_memories", most),
    calls(edge, "list_memories", { project, ...most }),
    calls(edge, "get_memory", { id }),
    calls(edge, "search", { query: question }),
    calls(edge, "fetch", { id }),
    calls(edge, "save_memory", { content: question.slice(0, 200) }),
    calls(edge, "update_memory", { id, tags: ["changed"] }),
    calls(edge, "delete_memory", { id: edge.ids.at(-1) }),
    calls(edge, "resources/list"),
    calls(edge, "prompts/get", { name: "tidy", arguments: {} }),
    calls(edge, "prompts/get", { name: "distill", arguments: { project } }),
    calls(edge, "save_memory", {
      content: `${question.slice(0, 200)}?`,
      metadata: { distilled_from: id, distilled_to: edge.ids.at(-2) },
    }),
  ];
}

function changes(edge: Edge): Case[] {
  const { question, project, tag } = edge;
  const [first = "", second = "", third = ""] = edge.ids;
  const content = question.slice(0, 200);
  const batch = Array.from({ length: LIMITS.batch }, (_, n) => ({ content: `${content} ${n}` }));
  const some = edge.ids.slice(0, LIMITS.page);
  const change = (form: Record<string, string>) =>
    sends(edge, "/memories/selection", { ...form, id: some });
  const turn = "I said that the lazy dog sleeps. ".repeat((LARGEST - 1_000) / 33);
  const move = (filter: Record<string, string>, to: string) =>
    asks(
      edge,
      "POST /api/memories/move",
      { project: to },
      `/api/memories/move?${new URLSearchParams(filter)}`,
    );
  return [
    asks(edge, "POST /api/memories", { content }, "/api/memories?similar=true"),
    asks(edge, "POST /api/memories", { content: `${content}!`, supersedes: first }),
    asks(edge, "PUT /api/memories/:id", { content: `${content}.` }, `/api/memories/${second}`),
    asks(edge, "POST /api/memories/batch", { memories: batch }),
    asks(edge, "POST /api/memories/capture", {
      ...{ agent: "claude-code", session_id: "1" },
      turns: [{ role: "user", content: turn }],
    }),
    asks(edge, "POST /api/memories/import", batch),
    sends(edge, "/memories", { content: `${content}?`, importance: "0.5" }),
    // The form lacks the ETag, so that it is refused after all was read; PUT measures the change itself.
    sends(edge, "/memories/:id", { content: `${content}?`, importance: "1" }, `/memories/${third}`),
    sends(edge, "/memories/:id/pin", { pinned: "1" }, `/memories/${third}/pin`),
    upload(edge, content, 0),
    change({ action: "tag", tag: "one", later: "1" }),
    sends(edge, "/memories/selection/undo", { change: "none" }),
    change({ action: "untag", tag: "one" }),
    change({ action: "move", to_project: "three" }),
    change({ action: "importance", to_importance: "0.7" }),
    change({ action: "export" }),
    sends(edge, "/welcome/save", { content: `${content} indeed` }),
    move({ tags: tag }, "elsewhere"),
    move({ project: "elsewhere" }, project),
    // Now the project has all memories.
    ...reads(edge, "/projects/:id", `/projects/${encodeURIComponent(project)}`),
    ...reads(
      edge,
      "/projects/:id/move",
      `/projects/${encodeURIComponent(project)}/move?to_project=elsewhere`,
    ),
    sends(
      edge,
      "/projects/:id/rename",
      { name: "anew" },
      `/projects/${encodeURIComponent(project)}/rename`,
    ),
    sends(edge, "/projects/:id/move", { to_project: project }, "/projects/anew/move"),
    sends(edge, "/memories/:id/delete", {}, `/memories/${third}/delete`),
    asks(edge, "DELETE /api/memories/:id", undefined, `/api/memories/${second}?history=true`),
  ];
}

/** A file of one memory, and of lines that are none: how long these take does not depend on the account. */
export function upload(access: Access, content: string, bad: number): Case {
  const body = new FormData();
  body.set("form_token", access.token);
  const lines = `${JSON.stringify({ content })}\n${"{}\n".repeat(bad)}`;
  body.set("file", new Blob([lines]), "memories.jsonl");
  const { route, path, init } = sends(access, "/memories/import");
  return { route, path, init: { ...init, body } };
}

function removals(edge: Edge): Case[] {
  const { tag, project } = edge;
  const remove = (filter: Record<string, string>) =>
    asks(edge, "DELETE /api/memories", undefined, `/api/memories?${new URLSearchParams(filter)}`);
  const view = `/memories?${new URLSearchParams({ project })}`;
  return [
    remove({ project, created_before: "2000-01-01T00:00:00Z" }),
    remove({ tags: tag }),
    sends(edge, "/memories/selection/delete", { view, all: "1" }),
  ];
}
