import type { Random } from "../bench/random.ts";
import { SERVICE_ATTRIBUTES, SERVICES } from "./services.ts";
import {
  ACQUAINTANCES,
  type Attribute,
  type Language,
  PERSON_ATTRIBUTES,
  PREFERENCES,
  type Told,
} from "./topics.ts";

/** A project that a person works in, and the language in which they speak of it. */
export interface Project {
  name: string;
  language: Language;
}

export interface Person {
  name: string;
  agents: readonly string[];
  projects: readonly Project[];
}

/** Two people with two agents each. Both work in the shop, of which each knows other things. */
export const PEOPLE: readonly Person[] = [
  {
    name: "robin",
    agents: ["claude-code", "codex"],
    projects: [
      { name: "acme/atlas", language: "en" },
      { name: "acme/shop", language: "en" },
    ],
  },
  {
    name: "kim",
    agents: ["cursor", "gemini-cli"],
    projects: [
      { name: "acme/werkstatt", language: "de" },
      { name: "acme/shop", language: "de" },
    ],
  },
];

/** What was true of a fact for a time. */
export interface Version {
  value: Told;
  from: number;
  /** Whether an agent saved it on purpose. */
  isSaved: boolean;
  /** When it was last said, in milliseconds since 1970. */
  saidAt: number;
}

/** One thing that can be told, with everything that was ever true of it. */
export interface Fact {
  id: string;
  person: Person;
  project: string | null;
  language: Language;
  isPreference: boolean;
  attribute: Pick<Attribute, "en" | "de" | "says">;
  /** What it is told of, as a subject and in the dative; empty for a preference. */
  thing: { subject: string; dative: string };
  /** Values that it never had. */
  values: Told[];
  versions: Version[];
  /** When it ceased to be; null while it holds. */
  withdrawnAt: number | null;
}

/** The version that holds at a time; null for a fact that was not told by then, or was withdrawn. */
export function versionAt({ versions, withdrawnAt }: Fact, now: number): Version | null {
  if (withdrawnAt !== null && withdrawnAt <= now) return null;
  return versions.findLast(({ from }) => from <= now) ?? null;
}

/** The version that holds after everything that was said. */
export function currentOf(fact: Fact): Version | null {
  return versionAt(fact, Number.POSITIVE_INFINITY);
}

/** What a text says of a fact: which of its versions, or that it is withdrawn. */
export interface Said {
  fact: Fact;
  /** Number of the version; null when it takes the fact back. */
  version: number | null;
}

/** Whether what a text says holds at a time, also that a fact is withdrawn. */
export function holdsAt({ fact, version }: Said, now: number): boolean {
  const isWithdrawn = fact.withdrawnAt !== null && fact.withdrawnAt <= now;
  if (isWithdrawn || version === null) return isWithdrawn && version === null;
  return fact.versions[version] === versionAt(fact, now);
}

/** Captured turns expire after 90 days; those about to expire do not count. */
const KEPT = 88 * 86_400_000;

/** Whether a memory of a version is there: one that was saved, or a turn that has not expired. */
export function isKept({ isSaved, saidAt }: Version, now: number): boolean {
  return isSaved || saidAt > now - KEPT;
}

/** All that can be told of a person's life and projects, in an order that the seed decides. */
export function createFacts(random: Random): Fact[] {
  const facts = PEOPLE.flatMap((person) => [
    ...person.projects.flatMap(({ name, language }) =>
      SERVICES[language].flatMap((service) =>
        SERVICE_ATTRIBUTES.map((attribute) =>
          factOf(random, person, { project: name, language, attribute, thing: service }),
        ),
      ),
    ),
    ...ACQUAINTANCES[ownLanguage(person)].flatMap((thing) =>
      PERSON_ATTRIBUTES.map((attribute) =>
        factOf(random, person, { project: null, language: ownLanguage(person), attribute, thing }),
      ),
    ),
    ...PREFERENCES.map((attribute) =>
      factOf(random, person, {
        project: null,
        language: ownLanguage(person),
        attribute,
        thing: "",
      }),
    ),
  ]);
  return shuffled(facts, random);
}

function ownLanguage({ projects }: Person): Language {
  return projects[0]?.language ?? "en";
}

function factOf(
  random: Random,
  person: Person,
  {
    project,
    language,
    attribute,
    thing,
  }: { project: string | null; language: Language; attribute: Attribute; thing: string },
): Fact {
  const values = attribute.values.map((value) =>
    typeof value === "string" ? { en: value, de: value } : value,
  );
  return {
    id: [person.name, project, attribute.en, thing].join("/"),
    ...{ person, project, language, attribute },
    isPreference: thing === "",
    thing: { subject: nominativeOf(thing), dative: thing },
    values: shuffled(values, random),
    versions: [],
    withdrawnAt: null,
  };
}

function nominativeOf(dative: string): string {
  return dative.replace(/^meiner /, "meine ").replace(/^meinem /, "mein ");
}

export function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}
