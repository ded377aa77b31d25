import { AppError } from "../../../errors.ts";
import type { Metrics } from "../../../metrics.ts";
import { findSecrets, maskSecrets, maskSecretsInLong } from "../../../secrets/find-secrets.ts";
import { problemOf } from "../../../text/input-kinds.ts";
import { createPause } from "../../../timing/pause.ts";
import { normaliseTags } from "../../model/change-memory.ts";
import {
  LIMITS,
  type Memory,
  type MemorySource,
  NewMemory,
  Project,
  Tag,
  type Warning,
} from "../../model/memory.ts";
import type { MemoryRow } from "../../model/rows.ts";

/** The fields of a memory in a request; `null` clears one. */
type Texts = { [Field in keyof NewMemory]?: NewMemory[Field] | null | undefined };

/**
 * The free text of each field that clients set, which may contain secrets; null for a field without. The compiler
 * asks for every new field. One with free text also belongs into `maskTexts` and `isWithinLimits`.
 */
const FREE_TEXTS: Record<keyof NewMemory, ((texts: Texts) => string | null | undefined) | null> = {
  content: ({ content }) => content,
  tags: ({ tags }) => tags?.join("\n"),
  agent_id: ({ agent_id }) => agent_id,
  session_id: ({ session_id }) => session_id,
  project: ({ project }) => project,
  metadata: ({ metadata }) => metadata && JSON.stringify(metadata),
  importance: null,
  pinned: null,
  supersedes: null,
  expires_at: null,
};

/** Replaces a secret where its kind does not fit. No secret is shorter. */
const SHORT_MASK = "***";

const HAS_SECRET = "contains what looks like a secret";

/** How a secret was handled. */
type Done = "refused" | "saved" | "masked";

export type SecretWatch = ReturnType<typeof createSecretWatch>;

/** Finds secrets in texts that are to be saved. Secrets are counted by kind, and never repeated or logged. */
export function createSecretWatch(metrics: Pick<Metrics, "counter">) {
  const counter = metrics.counter(
    "ctxd_secrets_total",
    "Secrets in received texts, by kind and by how they were handled.",
    ["kind", "done"],
  );
  const count = (kinds: readonly string[], done: Done) => {
    for (const kind of kinds) counter.inc({ kind, done });
  };

  const countMasked = (kinds: string[]) => count(kinds, "masked");
  const mask = (text: string): string => maskSecrets(text, countMasked);

  return {
    /** Warnings about a memory that is saved with secrets; null without any. */
    warnings(texts: Texts): { warnings: Warning[] } | null {
      const warnings = secretsIn(texts).map(({ path, kinds }): Warning => {
        count(kinds, "saved");
        const message = `Contains what looks like a secret: ${named(kinds)}.`;
        return { code: "secret", path, message };
      });
      return warnings.length > 0 ? { warnings } : null;
    },

    /**
     * Refuses secrets from agents, which can save the fact without them. Other clients get `warnings`. The session
     * comes from the transport, and not from the agent's model.
     * @throws AppError `validation_failed`
     */
    refuseFromAgents(source: MemorySource | null, { session_id: _, ...texts }: Texts): void {
      if (source?.via !== "mcp") return;
      const found = secretsIn(texts);
      if (found.length === 0) return;
      for (const { kinds } of found) count(kinds, "refused");
      const all = found.flatMap(({ kinds }) => kinds);
      throw new AppError(
        "validation_failed",
        `Not saved: this ${HAS_SECRET} (${named(all)}). Save the fact without the secret, for example its purpose and where it is stored.`,
        { details: found.map(({ path }) => ({ path, message: HAS_SECRET })) },
      );
    },

    /** The kinds of the secrets in saved memories, by id. They are not counted, as nothing is received. */
    async kindsIn(memories: readonly Memory[]): Promise<ReadonlyMap<string, string>> {
      const found = new Map<string, string>();
      const pause = createPause();
      for (const memory of memories) {
        const kinds = secretsIn(memory).flatMap(({ kinds }) => kinds);
        if (kinds.length > 0) found.set(memory.id, named(kinds));
        await pause();
      }
      return found;
    },

    /** A long text with its secrets masked; see `maskSecrets`. */
    mask: (text: string): Promise<string> => maskSecretsInLong(text, countMasked),

    /** The memory with its secrets masked, or the memory itself if it has none. */
    maskMemory<Kept extends MaskedTexts>(memory: Kept): Kept {
      const { content, tags, agentId: agent_id, sessionId: session_id, project } = memory;
      const found = secretsIn({ content, tags, agent_id, session_id, project });
      if (found.length + findSecrets(memory.metadata).length === 0) return memory;
      const masked = maskTexts(memory, mask);
      if (isWithinLimits(masked)) return { ...memory, ...masked };
      const maskShort = (text: string) => maskSecrets(text, undefined, () => SHORT_MASK);
      return { ...memory, ...maskTexts(memory, maskShort) };
    },
  };
}

/** The kinds of the secrets in each field of a memory; fields without any are left out. */
export function secretsIn(texts: Texts) {
  return Object.entries(FREE_TEXTS).flatMap(([field, textOf]) => {
    const kinds = findSecrets(textOf?.(texts) ?? "").map(({ kind }) => kind);
    return kinds.length > 0 ? [{ path: `/${field}`, kinds }] : [];
  });
}

function named(kinds: readonly string[]) {
  return [...new Set(kinds)].join(", ");
}

type MaskedTexts = Pick<
  MemoryRow,
  "content" | "tags" | "metadata" | "agentId" | "sessionId" | "project"
>;
type Mask = (text: string) => string;

function maskTexts(memory: MaskedTexts, mask: Mask): MaskedTexts {
  const maskLabel = (label: string | null) => (label === null ? null : mask(label));
  return {
    content: mask(memory.content),
    tags: normaliseTags(memory.tags.map(mask)),
    metadata: JSON.stringify(maskJson(JSON.parse(memory.metadata), mask)),
    agentId: maskLabel(memory.agentId),
    sessionId: maskLabel(memory.sessionId),
    project: maskLabel(memory.project),
  };
}

/** Masks the names and the values of an object. */
function maskJson(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return value.map((each) => maskJson(each, mask));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, each]) => [
    mask(name),
    typeof each === "string" ? maskValue(name, each, mask) : maskJson(each, mask),
  ]);
  return Object.fromEntries(entries);
}

/** A mask with the secret's kind may be longer than the secret. */
function isWithinLimits({ metadata, ...memory }: MaskedTexts): boolean {
  const { content, tags, agentId, sessionId, project } = memory;
  return (
    problemOf(NewMemory.properties.content, content) === null &&
    tags.every((tag) => problemOf(Tag, tag) === null) &&
    [agentId, sessionId, project].every(
      (label) => label === null || problemOf(Project, label) === null,
    ) &&
    Buffer.byteLength(metadata) <= LIMITS.metadata
  );
}

/** Masks a value of an object. Its name may show that it is a secret. */
function maskValue(name: string, value: string, mask: Mask): string {
  const before = `${name}: `;
  const masked = mask(before + value);
  return masked.startsWith(before) ? masked.slice(before.length) : mask(value);
}
