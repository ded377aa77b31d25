/** A text in each of the languages. */
export interface Told {
  en: string;
  de: string;
}
export type Language = keyof Told;

/** What can be told of many things, such as the port of a service. */
export interface Attribute {
  en: string;
  /** The German noun with its article in the nominative. */
  de: string;
  values: readonly (string | Told)[];
  /** Sentences of its own: `{E}` is the thing. */
  says?: Record<Language, readonly string[]>;
}

/** Of somebody that the user knows. */
export const PERSON_ATTRIBUTES: readonly Attribute[] = [
  {
    en: "home town",
    de: "der Wohnort",
    values: ["Leipzig", "Lyon", "Porto", "Graz", "Bristol", "Turku", "Ghent"],
    says: { en: ["{E} lives in {V}."], de: ["{E} wohnt in {V}."] },
  },
  {
    en: "employer",
    de: "der Arbeitgeber",
    values: ["Siemens", "the city library", "Lufthansa", "a bakery", "IKEA", "the university"],
    says: { en: ["{E} works for {V}."], de: ["{E} arbeitet für {V}."] },
  },
  { en: "shoe size", de: "die Schuhgröße", values: ["37", "38", "40", "42", "44"] },
  {
    en: "favourite dish",
    de: "das Lieblingsessen",
    values: ["ramen", "pierogi", "lasagne", "falafel", "paella", "dal"],
  },
  {
    en: "car",
    de: "das Auto",
    values: ["a red Skoda", "an old Volvo", "a Fiat 500", "a Toyota Yaris", "an electric Renault"],
    says: { en: ["{E} drives {V}."], de: ["{E} fährt {V}."] },
  },
  {
    en: "instrument",
    de: "das Instrument",
    values: ["the cello", "the piano", "the oboe", "the drums", "the accordion"],
    says: { en: ["{E} plays {V}."], de: ["{E} spielt {V}."] },
  },
  {
    en: "doctor",
    de: "die Ärztin",
    values: ["Dr. Kessler", "Dr. Okafor", "Dr. Lindqvist", "Dr. Moreau"],
  },
  {
    en: "school",
    de: "die Schule",
    values: ["Goethe School", "the Waldorf school", "Park Academy", "Hill College"],
  },
];

/** How the user wants agents to work. */
export const PREFERENCES: readonly { en: string; de: string; values: readonly Told[] }[] = [
  {
    en: "preferred length of your answers",
    de: "die gewünschte Länge deiner Antworten",
    values: [
      { en: "three sentences at most", de: "höchstens drei Sätze" },
      { en: "one short paragraph", de: "ein kurzer Absatz" },
      { en: "as long as needed", de: "so lang wie nötig" },
    ],
  },
  {
    en: "preferred language of commit messages",
    de: "die gewünschte Sprache der Commit-Nachrichten",
    values: [
      { en: "English", de: "Englisch" },
      { en: "German", de: "Deutsch" },
      { en: "simple English", de: "einfaches Englisch" },
    ],
  },
  {
    en: "preferred indentation of code",
    de: "die gewünschte Einrückung im Code",
    values: [
      { en: "two spaces", de: "zwei Leerzeichen" },
      { en: "tabs", de: "Tabulatoren" },
      { en: "four spaces", de: "vier Leerzeichen" },
    ],
  },
  {
    en: "preferred style of tests",
    de: "der gewünschte Stil der Tests",
    values: [
      { en: "one assertion per test", de: "eine Prüfung je Test" },
      { en: "tables of cases", de: "Tabellen von Fällen" },
      { en: "given, when, then", de: "gegeben, wenn, dann" },
    ],
  },
  {
    en: "editor I want commands for",
    de: "der Editor, für den ich Befehle möchte",
    values: [
      { en: "Helix", de: "Helix" },
      { en: "Neovim", de: "Neovim" },
      { en: "Zed", de: "Zed" },
      { en: "VS Code", de: "VS Code" },
    ],
  },
  {
    en: "rule for new dependencies",
    de: "die Regel für neue Abhängigkeiten",
    values: [
      { en: "ask me first", de: "frag mich zuerst" },
      { en: "none without a strong reason", de: "keine ohne guten Grund" },
      { en: "only from the standard library", de: "nur aus der Standardbibliothek" },
    ],
  },
  {
    en: "rule for pushing branches",
    de: "die Regel für das Pushen von Branches",
    values: [
      { en: "never without asking", de: "nie ohne zu fragen" },
      { en: "after each green test run", de: "nach jedem grünen Testlauf" },
      { en: "once a day", de: "einmal am Tag" },
    ],
  },
  {
    en: "preferred format of dates",
    de: "das gewünschte Format für Daten",
    values: [
      { en: "ISO 8601", de: "ISO 8601" },
      { en: "day.month.year", de: "Tag.Monat.Jahr" },
      { en: "relative dates", de: "relative Angaben" },
    ],
  },
  {
    en: "tone I want in reviews",
    de: "der Ton, den ich in Reviews möchte",
    values: [
      { en: "blunt", de: "direkt" },
      { en: "friendly", de: "freundlich" },
      { en: "neutral and short", de: "neutral und kurz" },
    ],
  },
  {
    en: "shell I use",
    de: "die Shell, die ich benutze",
    values: [
      { en: "fish", de: "fish" },
      { en: "zsh", de: "zsh" },
      { en: "nushell", de: "nushell" },
      { en: "bash", de: "bash" },
    ],
  },
];

export const ACQUAINTANCES: Record<Language, readonly string[]> = {
  en: [
    "my sister",
    "my brother",
    "my mother",
    "my neighbour",
    "my boss",
    "my daughter",
    "my son",
    "my flatmate",
    "my uncle",
    "my best friend",
  ],
  de: [
    "meiner Schwester",
    "meinem Bruder",
    "meiner Mutter",
    "meinem Nachbarn",
    "meiner Chefin",
    "meiner Tochter",
    "meinem Sohn",
    "meiner Mitbewohnerin",
    "meinem Onkel",
    "meiner besten Freundin",
  ],
};
