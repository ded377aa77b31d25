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
const OTHER_PEOPLE = "Marta Nils Oksana Pavel Quentin Rosa Sven Tilda Uwe Vera Wanda Yusuf".split(
  " ",
);
const HOSTS =
  "build-agent staging demo backup metrics vpn printer proxy archive git mail wiki".split(" ");
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
      "The {s} service stores its data in {v}.",
      "The data of the {s} service is stored in {v}.",
      "{v} is where the {s} service stores its data.",
    ],
    subjects: SERVICES,
    values: ["PostgreSQL", "MySQL", "SQLite", "MongoDB", "DynamoDB", "Cassandra"],
  },
  {
    wordings: [
      "The {s} server has {v} GB of memory.",
      "Memory of the {s} server: {v} GB",
      "There are {v} GB of RAM in the {s} server.",
    ],
    subjects: HOSTS,
    values: numbers(8, 16, 32, 64, 96),
  },
  {
    wordings: ["{s} drives a {v}.", "{s}'s car is a {v}.", "The car that {s} drives is a {v}."],
    subjects: OTHER_PEOPLE,
    values: ["Volvo", "Skoda", "Fiat", "Toyota", "Dacia"],
  },
  {
    wordings: [
      "Backups of the {s} host run at {v}.",
      "The {s} host is backed up at {v}.",
      "We back up the {s} host at {v}.",
    ],
    subjects: HOSTS,
    values: ["02:00", "03:30", "04:15", "23:45", "01:10"],
  },
  {
    wordings: [
      "{s} prefers {v} over everything else for breakfast.",
      "For breakfast {s} likes {v} best.",
      "{s}'s preferred breakfast is {v}.",
    ],
    subjects: OTHER_PEOPLE,
    values: ["porridge", "toast", "yoghurt", "pancakes", "muesli"],
  },
  {
    wordings: ["{s} takes {v} lessons.", "{s} is learning {v}.", "{s} is taking lessons in {v}."],
    subjects: OTHER_PEOPLE,
    values: ["Spanish", "Polish", "Finnish", "Greek", "Korean"],
  },
  {
    wordings: [
      "The IP address of {s} is {v}.",
      "{s} has the IP address {v}.",
      "{s} can be reached at {v}.",
    ],
    subjects: HOSTS.map((host) => `${host}-01`),
    values: ["10.0.0.5", "10.0.3.17", "192.168.4.2", "172.16.8.9", "10.1.1.30"],
  },
  {
    wordings: [
      "The {s} project uses {v} for its tests.",
      "Tests of the {s} project are run with {v}.",
      "{v} runs the tests of the {s} project.",
    ],
    subjects:
      "atlas beacon comet delta ember falcon glacier harbor indigo jupiter krypton lotus".split(
        " ",
      ),
    values: ["Jest", "Vitest", "Mocha", "Playwright", "Ava"],
  },
  {
    wordings: [
      "The rent of the {s} flat is {v} euros a month.",
      "The {s} flat costs {v} euros per month.",
      "We pay {v} euros a month for the {s} flat.",
    ],
    subjects:
      "Lindenstrasse Bakerloo Rosengarten Uferweg Kirchplatz Parkring Hafen Mühlen Schloss Burg Garten Wald".split(
        " ",
      ),
    values: numbers(780, 910, 1050, 1200, 645),
  },
  {
    wordings: [
      "{s} sits on floor {v}.",
      "{s}'s desk is on floor {v}.",
      "You find {s} on floor {v}.",
    ],
    subjects: OTHER_PEOPLE,
    values: numbers(1, 2, 3, 4, 5),
  },
  {
    wordings: [
      "The {s} meeting takes place every {v}.",
      "Every {v} there is the {s} meeting.",
      "We hold the {s} meeting on {v}s.",
    ],
    subjects:
      "planning retro design security budget roadmap hiring support sales research ops incident".split(
        " ",
      ),
    values: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"],
  },
  {
    wordings: [
      "The password manager of the {s} team is {v}.",
      "The {s} team keeps its passwords in {v}.",
      "{v} is the password manager that the {s} team uses.",
    ],
    subjects:
      "finance legal platform mobile growth data infra web support brand people quality".split(" "),
    values: ["Bitwarden", "KeePass", "Passbolt", "Dashlane", "Proton Pass"],
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
