/** A fact of a kind: wordings of the same, and values that it may have. */
interface FactKind {
  /** With `{s}` for what it is about, and `{v}` for its value. */
  wordings: readonly string[];
  subjects: readonly string[];
  values: readonly string[];
}

const PEOPLE = "Anna Boris Clara Deniz Emil Farah Goran Hanna Ivo Jana Karim Lena".split(" ");
const SERVICES =
  "billing search gateway mailer indexer checkout reports uploads sessions catalogue ledger alerts".split(
    " ",
  );
const numbers = (...values: number[]) => values.map(String);

/** Facts as agents save them. */
const KINDS: readonly FactKind[] = [
  {
    wordings: [
      "The {s} service listens on port {v}.",
      "Port {v} is what the {s} service listens on.",
      "The {s} service is listening on port {v}",
    ],
    subjects: SERVICES,
    values: numbers(8080, 9102, 5433, 7410, 6380, 3001),
  },
  {
    wordings: ["{s} works at {v}.", "{s} is employed at {v}.", "{s} works for {v}."],
    subjects: PEOPLE,
    values: ["Globex", "Initech", "Umbra Labs", "Northwind", "Contoso", "Acme"],
  },
  {
    wordings: ["{s} lives in {v}.", "{s} is living in {v}.", "{s}'s home is in {v}."],
    subjects: PEOPLE,
    values: ["Porto", "Ghent", "Graz", "Turku", "Brno", "Leeds"],
  },
  {
    wordings: [
      "The {s} service is deployed on {v}.",
      "On {v} the {s} service is deployed.",
      "Deployments of the {s} service happen on {v}.",
    ],
    subjects: SERVICES,
    values: ["Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays"],
  },
  {
    wordings: [
      "The timeout of the {s} service is {v} seconds.",
      "The {s} service has a timeout of {v} seconds.",
      "Timeout of the {s} service: {v} seconds",
    ],
    subjects: SERVICES,
    values: numbers(5, 10, 30, 45, 60, 90),
  },
  {
    wordings: [
      "The {s} service is written in {v}.",
      "{v} is the language of the {s} service.",
      "The {s} service is written in the language {v}.",
    ],
    subjects: SERVICES,
    values: ["Go", "Rust", "Kotlin", "TypeScript", "Elixir", "Python"],
  },
  {
    wordings: [
      "{s}'s birthday is on {v}.",
      "The birthday of {s} is on {v}.",
      "{s} has their birthday on {v}.",
    ],
    subjects: PEOPLE,
    values: ["3 May", "17 June", "21 October", "9 January", "30 March", "12 August"],
  },
  {
    wordings: [
      "{s}'s favourite editor is {v}.",
      "The favourite editor of {s} is {v}.",
      "{s} likes the editor {v} best.",
    ],
    subjects: PEOPLE,
    values: ["Vim", "Emacs", "Helix", "Zed", "Kakoune", "Nano"],
  },
  {
    wordings: [
      "Logs of the {s} service are kept for {v} days.",
      "The logs of the {s} service are kept {v} days.",
      "We keep the {s} service's logs for {v} days.",
    ],
    subjects: SERVICES,
    values: numbers(7, 14, 30, 60, 90, 365),
  },
  {
    wordings: [
      "{s} is on call in week {v}.",
      "In week {v} {s} is on call.",
      "On call in week {v}: {s}",
    ],
    subjects: PEOPLE,
    values: numbers(12, 19, 27, 33, 41, 50),
  },
  {
    wordings: [
      "The {s} service stores its data in {v}.",
      "The data of the {s} service is stored in {v}.",
      "{v} is where the {s} service stores its data.",
    ],
    subjects: SERVICES,
    values: ["PostgreSQL", "MySQL", "SQLite", "MongoDB", "DynamoDB", "Cassandra"],
  },
  {
    wordings: ["{s} is allergic to {v}.", "{s} has an allergy to {v}.", "An allergy of {s}: {v}"],
    subjects: PEOPLE,
    values: ["peanuts", "shellfish", "pollen", "penicillin", "soy", "eggs"],
  },
];

/** What a text of the set says: one fact with one value. */
export interface PlantedText {
  content: string;
  /** The fact, without its value. */
  fact: string;
  value: string;
  /** The place of the text in its fact, 0 for the first one. */
  turn: number;
}

/** What is done with a fact: nothing, it is said again, or it gets another value. */
const FATES = ["once", "again", "changed"] as const;

/** Facts of which a third is said again, a third changes, and all have look-alikes: the same of others. */
export function plantedFacts(random: () => number): PlantedText[] {
  const pick = <Value>(values: readonly Value[]): Value =>
    values[Math.floor(random() * values.length)] as Value;
  const texts: PlantedText[] = [];
  for (const [number, { wordings, subjects, values }] of KINDS.entries()) {
    for (const [at, subject] of subjects.entries()) {
      const fact = `${number} ${subject}`;
      const fate = FATES[at % FATES.length];
      const value = pick(values);
      const wording = pick(wordings);
      const say = (said: string, told: string, turn: number) =>
        texts.push({
          content: said.replace("{s}", subject).replace("{v}", told),
          ...{ fact, value: told, turn },
        });
      say(wording, value, 0);
      if (fate === "again") say(pick(wordings.filter((each) => each !== wording)), value, 1);
      if (fate === "changed") say(pick(wordings), pick(values.filter((each) => each !== value)), 1);
    }
  }
  return texts;
}
