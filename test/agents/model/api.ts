/** A tool that a program offers to the model. */
export interface Tool {
  readonly name: string;
  /** The group that its API puts it in. */
  readonly namespace?: string;
  /** All that the model is told of it. */
  readonly definition: unknown;
}

/** A message to the model, or of it. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  /** The tools that the model has called with it. */
  readonly calls?: readonly { readonly name: string; readonly input: unknown }[];
}

/** What a program sends to the model, whatever its API. */
export interface Asked {
  readonly tools: readonly Tool[];
  readonly messages: readonly Message[];
}

/** What the model answers: words, or the call of a tool. */
export type Reply = { readonly text: string } | { readonly call: Call };

interface Call extends Pick<Tool, "name" | "namespace"> {
  readonly input: object;
}

/** A server-sent event; `data` is sent as JSON unless it is text. */
export interface Event {
  readonly name?: string;
  readonly data: unknown;
}

/** One of the interfaces that programs use to speak to a model. */
export interface Api {
  /** The end of its path. */
  readonly path: RegExp;
  readonly read: (body: Json) => Asked;
  /** Whether the answer is streamed. */
  readonly isStreamed: (body: Json, path: string) => boolean;
  readonly answer: (reply: Reply, body: Json) => object;
  readonly stream: (reply: Reply, body: Json) => readonly Event[];
}

/** An object of JSON whose fields are read without checks: a stand-in fails where they are missing. */
// biome-ignore lint/suspicious/noExplicitAny: the bodies of four APIs, of which only some fields are read
export type Json = Record<string, any>;

let count = 0;

/** A new id with the prefix that an API uses. */
export function newId(prefix: string): string {
  count += 1;
  return `${prefix}_${count.toString(36).padStart(8, "0")}`;
}

/** The text of a message's content: a text, or a list of parts. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content ? JSON.stringify(content) : "";
  const texts = content.map((part) =>
    typeof part === "string" ? part : (Object(part).text ?? ""),
  );
  return texts.filter(Boolean).join("\n");
}
