import type { Random } from "../bench/random.ts";
import type { Language, Told } from "./topics.ts";
import type { Fact } from "./truth.ts";
import { ENGLISH } from "./wording/english.ts";
import { GERMAN } from "./wording/german.ts";
import type { Wording } from "./wording/wording.ts";

export const WORDINGS: Record<Language, Wording> = { en: ENGLISH, de: GERMAN };

/** How often a fact is told in the words of its kind, if it has such words. */
const OWN_WORDS = 0.3;

const STEMS = [
  "load",
  "parse",
  "render",
  "sync",
  "merge",
  "queue",
  "flush",
  "index",
  "sign",
  "track",
  "split",
  "cache",
];
const OBJECTS = [
  "Orders",
  "Rows",
  "Users",
  "Files",
  "Batch",
  "Token",
  "Invoice",
  "Event",
  "Page",
  "Session",
  "Report",
];
const FOLDERS = [
  "src/api",
  "src/core",
  "lib",
  "web/pages",
  "tools",
  "src/jobs",
  "src/db",
  "packages/ui",
];
const LEVELS = ["INFO", "WARN", "ERROR", "DEBUG"];
const MESSAGES = [
  "request finished",
  "connection reset by peer",
  "retrying",
  "cache miss",
  "slow query",
  "job started",
  "job finished",
  "unexpected token in JSON",
];
/** Letters of secrets. */
const LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789";
const SECRET_LENGTH = 36;

/** Says things in a language, in shapes that the random numbers choose. */
export type Sentences = ReturnType<typeof createSentences>;

export function createSentences(random: Random) {
  const codeName = () => random.pick(STEMS) + random.pick(OBJECTS);
  const fill = (shape: string, language: Language) =>
    shape.replaceAll(/\{([fgptnmlk])\}/g, (_, slot: string) => {
      if (slot === "f" || slot === "g") return codeName();
      if (slot === "p") return `${random.pick(FOLDERS)}/${codeName()}.ts`;
      if (slot === "t") return random.pick(WORDINGS[language].things);
      if (slot === "l") return log();
      return slot === "k" ? secret() : `${random.between(2, 900)}`;
    });
  const log = () =>
    Array.from({ length: random.between(4, 14) }, () => {
      const time = `${random.between(10, 23)}:${random.between(10, 59)}:${random.between(10, 59)}`;
      return `${time} ${random.pick(LEVELS)} ${codeName()}: ${random.pick(MESSAGES)} (${random.between(1, 9999)} ms)`;
    }).join("\n");
  const letters = () =>
    Array.from({ length: SECRET_LENGTH }, () => random.pick([...LETTERS])).join("");
  const secret = () => `ghp_${letters()}`;

  return {
    /** A sentence of a list of shapes that is about no fact. */
    about: (kind: KindOfTalk, language: Language) =>
      fill(random.pick(WORDINGS[language][kind]), language),

    /** A sentence about a fact. */
    ofFact(
      fact: Fact,
      kind: KindOfSentence,
      { value, before, at }: { value?: Told | undefined; before?: Told | undefined; at: number },
    ): string {
      const { language, attribute } = fact;
      const own =
        kind === "facts" || kind === "silentChanges" ? attribute.says?.[language] : undefined;
      const shape =
        own && random.next() < OWN_WORDS ? random.pick(own) : random.pick(WORDINGS[language][kind]);
      const { subject, object, noun } = namesOf(fact);
      const [shownValue, shownBefore] = [
        value?.[language] ?? "",
        before?.[language] ?? value?.[language] ?? "",
      ];
      const text = shape
        .replaceAll("{S}", subject)
        .replaceAll("{C}", capitalised(subject))
        .replaceAll("{A}", object)
        .replaceAll("{N}", noun)
        .replaceAll("{E}", fact.thing.subject)
        .replaceAll("{V}", shownValue)
        .replaceAll("{O}", shownBefore)
        .replaceAll("{D}", new Date(at).toISOString().slice(0, 10));
      return capitalised(text);
    },

    /** The same within a turn that says something else, too. */
    inTurn(text: string, language: Language): string {
      const { openings, endings } = WORDINGS[language];
      return fill(`${random.pick(openings)}${text}${random.pick(endings)}`, language);
    },
  };
}

type KindOfTalk = "greetings" | "thanks" | "requests" | "reports" | "logs" | "secrets" | "unknown";
type KindOfSentence = Exclude<keyof Wording, KindOfTalk | "openings" | "endings" | "things">;

/** How a fact is called in sentences. */
export function namesOf({ language, attribute, thing, isPreference }: Fact) {
  const of = isPreference ? "" : `${language === "en" ? " of " : " von "}${thing.dative}`;
  if (language === "en") {
    const subject = `the ${attribute.en}${of}`;
    return { subject, object: subject, noun: `${attribute.en}${of}` };
  }
  const subject = `${attribute.de}${of}`;
  return { subject, object: subject.replace(/^der /, "den "), noun: subject };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
