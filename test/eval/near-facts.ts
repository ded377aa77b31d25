import { type ChangedFact, readChangedFacts } from "./own-sets.ts";
import type { EvaluationSet } from "./set.ts";

const DAY = 86_400_000;
const START = Date.parse("2025-03-01T08:00:00Z");
const NAME = /^\p{Lu}\p{L}+(?= )/u;
/** Words that begin a fact and are no names. */
const NO_NAMES =
  /^(The|Our|We|In|At|On|A|No|Takes|Gets|Goes|Favourite|Production|Legal|Upgraded|Likes|Wants|Payments|Messages|Bugs|Two|Bought|Ticket|Work|Board|Version|Staging|Version|Changed|Summer|Commutes|Uses|Switched|From|Rent|Daily|Dr|New|Cancelled|Mocha|Varnish|Paper|Vegetables|Electricity|Freelancers|Newsletters|Prefers|Users?|Sessions?|Android|Guest|Grandma|Hint|Students|Uploads|Backups|Audit|CI)$/;

/**
 * Small stores in which the changed fact of one person lies among the same fact of another person,
 * saved later, and another fact of the same person: what is near must not be taken for a version.
 */
export async function readNear(half: "dev" | "held"): Promise<EvaluationSet[]> {
  const people = (await readChangedFacts(half)).flatMap((fact) => {
    const name = nameOf(fact);
    return name === null ? [] : [{ name, fact }];
  });
  return people.flatMap(({ name, fact }, at) => {
    const other = people[(at + 5) % people.length];
    const third = people[(at + 11) % people.length];
    if (!other || !third) return [];
    const set: EvaluationSet = { memories: [], questions: [] };
    const add = (id: string, content: string, day: number) =>
      set.memories.push({ id, content, said_at: new Date(START + day * DAY).toISOString() });
    const rename = (text: string, from: string, to: string) => text.replaceAll(from, to);
    for (const [n, text] of fact.versions.entries()) {
      add(`0.-${n + 1}`, text, 10 + 40 * n);
      add(`1.-${n + 1}`, rename(text, name, third.name), 30 + 40 * n);
    }
    for (const [n, text] of other.fact.versions.entries()) {
      add(`2.-${n + 1}`, rename(text, other.name, name), 20 + 60 * n);
      add(`3.-${n + 1}`, text, 25 + 60 * n);
    }
    for (const { question, version } of fact.questions) {
      const category = version === fact.versions.length ? "now" : "past";
      set.questions.push({ question, evidence: [`0.-${version}`], category });
    }
    return [set];
  });
}

/** Whose fact it is, where every version begins with a name. */
function nameOf({ versions: [first = ""], questions }: ChangedFact): string | null {
  const [name] = NAME.exec(first) ?? [];
  const isName = name !== undefined && !NO_NAMES.test(name);
  return isName && questions.every(({ question }) => question.includes(name)) ? name : null;
}
