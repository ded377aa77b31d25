import { createRandom, type Random } from "../bench/random.ts";
import { createSentences, namesOf, type Sentences } from "./sentences.ts";
import {
  createFacts,
  currentOf,
  type Fact,
  PEOPLE,
  type Person,
  type Project,
  type Said,
} from "./truth.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const WEEK = 7 * 24 * HOUR;

/** A turn of the user with the agent's answer, and what the agent does about it. */
export interface Exchange {
  at: number;
  user: string;
  assistant: string;
  kind: EventKind;
  /** The fact that the user asks for. */
  asked: Fact | null;
  /** The fact that was told, changed, corrected, repeated or withdrawn. */
  said: Said | null;
  /** What the agent saves by its tool. */
  saved: { content: string; followsHint: boolean } | null;
  /** Whether the agent looks for the withdrawn fact and deletes it. */
  deletes: boolean;
}

export interface Session {
  id: string;
  /** From 1. */
  number: number;
  person: Person;
  agent: string;
  project: Project;
  at: number;
  exchanges: Exchange[];
}

/** How often a turn of the user is of each kind. The rest are requests, which say no fact. */
const SHARES = {
  fact: 0.17,
  change: 0.08,
  correction: 0.03,
  withdrawal: 0.025,
  repetition: 0.09,
  question: 0.13,
  greeting: 0.05,
  thanks: 0.06,
  log: 0.06,
  secret: 0.01,
};
export type EventKind = keyof typeof SHARES | "request";

/** The shapes of what is said about no fact. */
const TALK: Partial<Record<EventKind, "greetings" | "logs" | "secrets" | "thanks">> = {
  greeting: "greetings",
  log: "logs",
  secret: "secrets",
  thanks: "thanks",
};

const TURNS = 4;
/** Of the facts that are told, those of the person's life and of their ways of working. */
const OF_LIFE = 0.2;
const EXPLICIT = 0.5;
/** How often an agent does these. */
const SAVES = { told: 0.55, repeated: 0.25, withdrawn: 0.3 };
const DELETES = 0.4;
const FOLLOWS_HINTS = 0.7;
const RESTATES = 0.5;

/** A year of talk with known truth. It is the same for the same seed. */
export type Year = ReturnType<typeof createYear>;

/** @param start milliseconds since 1970 */
export function createYear({
  seed,
  start,
  perWeek,
}: {
  seed: number;
  start: number;
  perWeek: number;
}) {
  const random = createRandom(seed);
  const facts = createFacts(random);
  const sentences = createSentences(random);
  /** What each text says. */
  const register = new Map<string, Said>();
  const secrets: string[] = [];
  let count = 0;

  const plan = (at: number): Session => {
    const person = random.pick(PEOPLE);
    const project = random.pick(person.projects);
    const agent = random.pick(person.agents);
    const mine = facts.filter(
      (fact) => fact.person === person && (fact.project === project.name || fact.project === null),
    );
    const session: Session = {
      number: ++count,
      id: `session-${count}`,
      person,
      agent,
      project,
      at,
      exchanges: [],
    };
    let time = at;
    for (let turn = 0; turn < TURNS; turn++) {
      time += random.between(1, 4) * MINUTE;
      const exchange = exchangeOf({ random, sentences, register, mine, session, at: time });
      if (exchange.kind === "secret") secrets.push(...(exchange.user.match(/ghp_\w+/g) ?? []));
      session.exchanges.push(exchange);
    }
    return session;
  };

  return {
    facts,
    secrets,
    /** What a memory says; null for one that says no fact. */
    saidIn: (content: string) => register.get(plainOf(content)) ?? null,
    /** Adds a text that says something of a fact. */
    register: (content: string, said: Said) => void register.set(plainOf(content), said),
    /** Plans the sessions of the next week. They must be taken in order. */
    *week(number: number): Generator<Session> {
      for (let at = 0; at < perWeek; at++) {
        yield plan(start + number * WEEK + Math.floor((at / perWeek) * WEEK));
      }
    },
  };
}

/** A memory's text without its speaker. */
function plainOf(content: string): string {
  return content.replace(/^(?:User|Assistant): /, "");
}

interface Moment {
  random: Random;
  sentences: Sentences;
  register: Map<string, Said>;
  /** Facts of the person that belong to the project or to none. */
  mine: readonly Fact[];
  session: Session;
  at: number;
}

function exchangeOf(moment: Moment): Exchange {
  const { random, sentences, session, at } = moment;
  const { language } = session.project;
  const kind = kindOf(random);
  const fact = factFor(kind, moment);
  const plain = { at, asked: null, said: null, saved: null, deletes: false };
  if (kind === "question" && fact) {
    const user = sentences.inTurn(sentences.ofFact(fact, "questions", { at }), language);
    const current = currentOf(fact);
    const isKnown = current && random.next() < RESTATES;
    const assistant = isKnown
      ? sentences.ofFact(fact, "answers", { value: current.value, at })
      : sentences.about("unknown", language);
    if (isKnown) noteIfWhole(moment, assistant, { fact, version: fact.versions.length - 1 });
    return { ...plain, kind, user, assistant, asked: fact };
  }
  if (fact) return tell(moment, kind, fact);
  const talk = TALK[kind] ?? "requests";
  const user = sentences.about(talk, language);
  const assistant = sentences.about("reports", language);
  return { ...plain, kind: talk === "requests" ? "request" : kind, user, assistant };
}

function kindOf(random: Random): EventKind {
  let rest = random.next();
  for (const [kind, share] of Object.entries(SHARES) as [EventKind, number][]) {
    rest -= share;
    if (rest < 0) return kind;
  }
  return "request";
}

/** The fact that an event is about; null if it is about none, or there is none to choose. */
function factFor(kind: EventKind, { random, mine, session }: Moment): Fact | null {
  const choose = (some: readonly Fact[]) => (some.length === 0 ? null : random.pick(some));
  const held = () => mine.filter((fact) => currentOf(fact));
  switch (kind) {
    case "fact": {
      const isOfLife = random.next() < OF_LIFE;
      const free = mine.filter(
        ({ versions, project }) => versions.length === 0 && (project === null) === isOfLife,
      );
      const first =
        isOfLife && random.next() < 0.5 ? free.filter(({ isPreference }) => isPreference) : [];
      return choose(first.length > 0 ? first : free);
    }
    case "change":
      return choose(
        held().filter(
          ({ values, isPreference }) => values.length > 0 && (!isPreference || random.next() < 0.5),
        ),
      );
    case "correction": {
      const told = session.exchanges.flatMap(({ said }) => said?.fact ?? []);
      return choose(told.filter((fact) => currentOf(fact) && fact.values.length > 0));
    }
    case "withdrawal":
      return choose(held().filter(({ isPreference }) => !isPreference));
    case "repetition":
    case "question":
      return choose(held());
    default:
      return null;
  }
}

/** Tells a fact, or that it has changed, and keeps what is true. */
function tell(moment: Moment, kind: EventKind, fact: Fact): Exchange {
  const { random, sentences, session, at } = moment;
  const before = fact.versions.at(-1)?.value;
  if (kind === "withdrawal") fact.withdrawnAt = at;
  else if (kind !== "repetition") addVersion(fact, at);
  const version = fact.versions.at(-1);
  if (!version) throw new Error(`${fact.id} has no value`);
  const isWithdrawn = kind === "withdrawal";
  if (!isWithdrawn) version.saidAt = at;
  const said: Said = { fact, version: isWithdrawn ? null : fact.versions.length - 1 };
  const slots = { value: version.value, before, at };
  const shapes = shapesOf(kind, random);
  const user = sentences.inTurn(sentences.ofFact(fact, shapes.told, slots), fact.language);
  moment.register.set(user, said);
  const restates = !isWithdrawn && random.next() < RESTATES;
  const assistant = restates
    ? sentences.ofFact(fact, "notes", slots)
    : sentences.about("reports", session.project.language);
  noteIfWhole(moment, assistant, said);
  const isSaved = random.next() < SAVES[shapes.saves];
  const content = isSaved ? sentences.ofFact(fact, shapes.saved, slots) : null;
  if (content !== null) moment.register.set(content, said);
  if (content !== null && !isWithdrawn) version.isSaved = true;
  return {
    ...{ at, kind, user, assistant, said, asked: null },
    saved: content === null ? null : { content, followsHint: random.next() < FOLLOWS_HINTS },
    deletes: isWithdrawn && !isSaved && random.next() < DELETES,
  };
}

function addVersion(fact: Fact, at: number) {
  const value = fact.values.pop();
  if (value) fact.versions.push({ value, from: at, isSaved: false, saidAt: at });
}

/** The shapes in which an event is told and saved, and how often it is saved. */
function shapesOf(kind: EventKind, random: Random) {
  const changes = random.next() < EXPLICIT ? "changes" : "silentChanges";
  switch (kind) {
    case "withdrawal":
      return { told: "withdrawals", saved: "savedWithdrawals", saves: "withdrawn" } as const;
    case "correction":
      return { told: "corrections", saved: "savedChanges", saves: "told" } as const;
    case "change":
      return { told: changes, saved: "savedChanges", saves: "told" } as const;
    default:
      return {
        told: "facts",
        saved: "saves",
        saves: kind === "repetition" ? "repeated" : "told",
      } as const;
  }
}

/** Keeps what an assistant's text says, unless it does not name what it is about. */
function noteIfWhole({ register }: Pick<Moment, "register">, text: string, said: Said) {
  const { subject, object } = namesOf(said.fact);
  if ([subject, object].some((name) => text.toLowerCase().includes(name.toLowerCase()))) {
    register.set(text, said);
  }
}
