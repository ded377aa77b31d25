import type { Embedder } from "../../src/embedding/embedder.ts";
import { answersAmong } from "../../src/memories/ranking/chance.ts";
import { createRandom, type Random } from "../support/random.ts";
import type { Half } from "./own-sets.ts";
import type { EvaluationSet } from "./set.ts";
import { createFact, readSheets, type Sheet } from "./sheets.ts";
import type { Figure } from "./table.ts";
import { createAsker } from "./training/examples.ts";
import { searchSet } from "./versions.ts";

const DAY = 86_400_000;
const START = Date.parse("2025-02-03T08:00:00Z");
/** How many facts of a store were said once, have changed, and have ended; the others were never said. */
const SHARES = { known: 0.45, changed: 0.25, ended: 0.1 };
const ASKED = 2;

const KINDS = ["known", "changed", "ended", "unsaid"] as const;

interface StoredFact {
  kind: (typeof KINDS)[number];
  /** The names of its memories in the store, the newest first. */
  names: string[];
  questions: string[];
}

/** What an answer shows first. `marked`: what held once, and that there is something newer. */
type First = "right" | "stale" | "marked" | "other" | "nothing";

interface Answer extends Pick<StoredFact, "kind"> {
  first: First;
  /** Memories that are marked as outdated although nothing newer says otherwise. */
  falselyMarked: number;
}

/**
 * How good searches are where nearly everything is said of something else in the same words: each sheet is a store, of whose facts
 * some have changed and some were never said.
 */
export async function sheetFigures(half: Half, embedder: Embedder): Promise<Figure[]> {
  const answers: Answer[] = [];
  for (const sheet of await readSheets(half)) answers.push(...(await askSheet(sheet, embedder)));
  return KINDS.flatMap((kind) => {
    const own = answers.filter((answer) => answer.kind === kind);
    const group = `facts of one shape, ${kind} (${own.length})`;
    const share = (wanted: First) =>
      own.filter(({ first }) => first === wanted).length / own.length;
    const falselyMarked = own.filter((answer) => answer.falselyMarked > 0).length / own.length;
    const marks = { group, name: "with a false mark", value: falselyMarked };
    if (kind === "unsaid") return [{ group, name: "silent", value: share("nothing") }, marks];
    return [
      { group, name: "right first", value: share("right") },
      ...(kind === "known" ? [] : [{ group, name: "outdated first", value: share("stale") }]),
      { group, name: "nothing", value: share("nothing") },
      marks,
    ];
  });
}

async function askSheet(sheet: Sheet, embedder: Embedder): Promise<Answer[]> {
  const { set, facts } = storeOf(sheet, createRandom(1));
  const outdated = new Set(facts.flatMap(({ names }) => names.slice(1)));
  const asker = await createAsker(set, embedder);
  const answers: Answer[] = [];
  for (const { kind, names, questions } of facts) {
    for (const question of questions) {
      const { ordered, nameOf } = await searchSet(asker, question, embedder);
      const [best] = answersAmong(ordered);
      const name = nameOf(best?.memory.id);
      const isOld = names.slice(1).includes(name);
      const shown = name === names[0] ? "right" : isOld ? "stale" : "other";
      const first = shown === "stale" && best?.newer ? "marked" : shown;
      const isFalse = ({ memory, newer }: (typeof ordered)[number]) =>
        newer !== undefined && !outdated.has(nameOf(memory.id));
      const falselyMarked = ordered.filter(isFalse).length;
      answers.push({ kind, first: best ? first : "nothing", falselyMarked });
    }
  }
  asker.close();
  return answers;
}

/** What a store has of a sheet's facts, and what is asked. No text is in it twice. */
function storeOf({ subjects, attributes }: Sheet, random: Random) {
  const set: EvaluationSet = { memories: [], questions: [] };
  const facts: StoredFact[] = [];
  const said = new Set<string>();
  const save = (id: string, content: string, day: number) => {
    if (said.has(content)) return [];
    said.add(content);
    const time = START + day * DAY + said.size * 60_000;
    set.memories.push({ id, content, said_at: new Date(time).toISOString() });
    return [id];
  };
  for (const [place, subject] of subjects.entries()) {
    for (const attribute of attributes) {
      const { say, values } = createFact({ attribute, subject }, random);
      const [value, next] = values;
      const kind = kindOf(random.next());
      const id = `${place} ${attribute.name}`;
      const day = random.below(300);
      const names = kind === "unsaid" ? [] : save(id, say(random.pick(attribute.same), value), day);
      const changes = random.pick([attribute.same, attribute.changes]);
      const later = {
        changed: say(random.pick(changes ?? []), next, value),
        ended: say(random.pick(attribute.ends), value, value),
      };
      if (kind === "changed" || kind === "ended") {
        names.unshift(...save(`${id}, later`, later[kind], day + 20));
      }
      const questions = random.shuffled(attribute.questions).slice(0, ASKED);
      facts.push({ kind, names, questions: questions.map((shape) => say(shape)) });
    }
  }
  return { set, facts };
}

function kindOf(chance: number): StoredFact["kind"] {
  let left = chance;
  for (const [kind, share] of Object.entries(SHARES)) {
    if (left < share) return kind as StoredFact["kind"];
    left -= share;
  }
  return "unsaid";
}
