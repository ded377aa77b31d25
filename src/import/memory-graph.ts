import type { Format, Found } from "./format.ts";
import { readObjects } from "./json-lines.ts";
import { isObject, type JsonObject, objectsOf } from "./json-objects.ts";

const isPart = ({ type }: JsonObject) => type === "entity" || type === "relation";

/**
 * The file of the reference MCP memory server (`@modelcontextprotocol/server-memory`): one entity with
 * observations, or one relation, per line. Each observation and each relation becomes a memory.
 */
export const memoryGraph: Format = {
  name: "a knowledge graph of the MCP memory server",
  origin: "memory-graph",
  recognises: (head) => objectsOf(head).some(isPart),
  read: (source) =>
    readObjects(source, (object, at) =>
      object.type === "entity"
        ? readEntity(object, at)
        : object.type === "relation"
          ? readRelation(object, at)
          : [{ at, problem: "is neither an entity nor a relation" }],
    ),
};

function* readEntity({ name, entityType, observations }: JsonObject, at: string): Iterable<Found> {
  if (typeof name !== "string" || !Array.isArray(observations)) {
    yield { at, problem: "has no name or no observations" };
    return;
  }
  const type = typeof entityType === "string" ? entityType : "";
  const common = { tags: [type], metadata: { entity: name, entity_type: type } };
  if (observations.length === 0) {
    yield { at, memory: { content: type === "" ? name : `${name} (${type})`, ...common } };
  }
  for (const observation of observations) {
    // In some versions an observation is an object.
    const text = isObject(observation) ? observation.content : observation;
    yield typeof text === "string"
      ? { at, memory: { content: `${name}: ${text}`, ...common } }
      : { at, problem: "has an observation that is not text" };
  }
}

function* readRelation({ from, to, relationType }: JsonObject, at: string): Iterable<Found> {
  if (typeof from !== "string" || typeof to !== "string" || typeof relationType !== "string") {
    yield { at, problem: "is a relation without its two entities and its type" };
    return;
  }
  const content = `${from} ${relationType.replaceAll("_", " ")} ${to}`;
  yield {
    at,
    memory: { content, tags: ["relation"], metadata: { from, relation: relationType, to } },
  };
}
