import { expect } from "bun:test";
import type { Client } from "../src/index.ts";
import { newClient } from "./support.ts";

/** A call of a tool by a model. */
export interface Use {
  name: string;
  input: { [field: string]: unknown };
}

/** A conversation in which a model uses every tool: the same with each framework. */
export interface ToolScript {
  client: Client;
  /**
   * What the model does next.
   * @param answers of the tools so far, as the model sees them
   * @returns null when it has nothing more to do
   */
  next(answers: readonly unknown[]): Use | null;
  /** Expects what the tools have answered by then. */
  check(): Promise<void>;
}

const PEANUTS = "Ana is allergic to peanuts";

export function createToolScript(): ToolScript {
  const client = newClient();
  let answers: readonly unknown[] = [];
  const idOf = (place: number) => /mem_[0-9a-f]{32}/.exec(textOf(answers[place]))?.[0] ?? "none";
  const uses: (() => Use)[] = [
    () => use("save_memory", { content: PEANUTS, tags: ["food"], importance: null }),
    () => use("search_memories", { query: "Who is allergic to peanuts?", limit: 3 }),
    () => use("update_memory", { id: idOf(1), content: "Ana is allergic to all nuts" }),
    () => use("get_memory", { id: idOf(1) }),
    () => use("save_memory", { content: "   " }),
    () => use("delete_memory", { id: idOf(0) }),
    () => use("get_memory", { id: idOf(0) }),
    () => use("search_memories", { query: "Who is allergic to peanuts?" }),
  ];
  return {
    client,
    next(given) {
      answers = given;
      return uses[answers.length]?.() ?? null;
    },
    async check() {
      const [saved, found, updated, read, refused, deleted, absent, nothing] = answers.map(textOf);
      expect(saved).toContain('"saved":true');
      expect(found).toContain(PEANUTS);
      expect(found).toContain('"tags":["food"]');
      expect(updated).toContain('"updated":true');
      expect(read).toContain("all nuts");
      expect(refused).toContain("content must not be only white space");
      expect(deleted).toContain('"deleted":true');
      expect(absent).toContain("No memory with id");
      expect(nothing).toContain("Nothing is known about that.");
      expect(answers).toHaveLength(uses.length);
      expect(await Array.fromAsync(client.list())).toEqual([]);
    },
  };
}

const use = (name: string, input: Use["input"]): Use => ({ name, input });

function textOf(answer: unknown): string {
  return typeof answer === "string" ? answer : JSON.stringify(answer ?? null);
}
