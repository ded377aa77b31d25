import type { Attribute, Language, Told } from "./topics.ts";

const PEOPLE = [
  "Anna",
  "Jonas",
  "Mira",
  "Tariq",
  "Lena",
  "Pavel",
  "Sofia",
  "Henrik",
  "Yuki",
  "Clara",
  "Emeka",
  "Ines",
];
const days: Told[] = [
  { en: "Monday", de: "Montag" },
  { en: "Tuesday", de: "Dienstag" },
  { en: "Wednesday", de: "Mittwoch" },
  { en: "Thursday", de: "Donnerstag" },
  { en: "Friday", de: "Freitag" },
];
const amounts = (numbers: readonly number[], en: string, de: string): Told[] =>
  numbers.map((number) => ({ en: `${number} ${en}`, de: `${number} ${de}` }));

/** Of a service of a project. */
export const SERVICE_ATTRIBUTES: readonly Attribute[] = [
  {
    en: "port",
    de: "der Port",
    values: ["8081", "9090", "7001", "3306", "5173", "4000", "6100", "8443"],
    says: { en: ["{E} listens on port {V}."], de: ["{E} lauscht auf Port {V}."] },
  },
  {
    en: "database",
    de: "die Datenbank",
    values: ["PostgreSQL", "MySQL", "MariaDB", "SQLite", "CockroachDB", "MongoDB", "Oracle"],
    says: { en: ["{E} stores its data in {V}."], de: ["{E} speichert die Daten in {V}."] },
  },
  {
    en: "region",
    de: "die Region",
    values: ["Frankfurt", "Dublin", "Paris", "Stockholm", "Zurich", "Milan", "Warsaw"],
    says: { en: ["{E} runs in {V}."], de: ["{E} läuft in {V}."] },
  },
  {
    en: "timeout",
    de: "das Timeout",
    values: amounts([5, 10, 15, 20, 30, 45, 90], "seconds", "Sekunden"),
    says: { en: ["{E} times out after {V}."], de: ["{E} bricht nach {V} ab."] },
  },
  {
    en: "reviewer",
    de: "die Zuständigkeit für Reviews",
    values: PEOPLE,
    says: { en: ["{V} reviews all changes of {E}."], de: ["{V} prüft alle Änderungen an {E}."] },
  },
  {
    en: "contact person",
    de: "die Ansprechperson",
    values: PEOPLE,
    says: { en: ["Ask {V} about {E}."], de: ["Frag {V}, wenn es um {E} geht."] },
  },
  {
    en: "log retention",
    de: "die Aufbewahrung der Logs",
    values: amounts([7, 14, 30, 60, 90, 180], "days", "Tage"),
  },
  {
    en: "base image",
    de: "das Basis-Image",
    values: ["debian:12", "alpine:3.20", "ubuntu:24.04", "distroless", "fedora:40"],
  },
  {
    en: "test command",
    de: "der Testbefehl",
    values: [
      "`make check`",
      "`bun test`",
      "`npm test`",
      "`cargo test`",
      "`pytest -q`",
      "`go test ./...`",
    ],
    says: { en: ["Test {E} with {V}."], de: ["Teste {E} mit {V}."] },
  },
  {
    en: "release day",
    de: "der Release-Tag",
    values: days,
    says: { en: ["{E} is released every {V}."], de: ["{E} erscheint jeden {V}."] },
  },
  {
    en: "main branch",
    de: "der Hauptbranch",
    values: ["main", "trunk", "develop", "stable", "next"],
  },
  {
    en: "package manager",
    de: "der Paketmanager",
    values: ["pnpm", "yarn", "npm", "bun", "uv", "poetry"],
  },
  {
    en: "message queue",
    de: "die Message-Queue",
    values: ["RabbitMQ", "Kafka", "NATS", "SQS", "Pulsar"],
    says: {
      en: ["{E} sends its messages through {V}."],
      de: ["{E} verschickt Nachrichten über {V}."],
    },
  },
  {
    en: "cache",
    de: "der Cache",
    values: ["Redis", "Valkey", "Memcached", "Dragonfly", "Varnish"],
  },
  {
    en: "memory limit",
    de: "das Speicherlimit",
    values: ["256 MB", "512 MB", "768 MB", "1 GB", "2 GB", "4 GB"],
    says: {
      en: ["{E} may use at most {V} of memory."],
      de: ["{E} darf höchstens {V} Speicher belegen."],
    },
  },
  {
    en: "deploy command",
    de: "der Deploy-Befehl",
    values: ["`make ship`", "`fly deploy`", "`helm upgrade`", "`kamal deploy`", "`./deploy.sh`"],
  },
  { en: "API version", de: "die API-Version", values: ["v1", "v2", "v3", "v4", "v5"] },
  {
    en: "number of retries",
    de: "die Anzahl der Wiederholungen",
    values: ["2", "3", "4", "5", "6", "8"],
  },
  {
    en: "rate limit",
    de: "das Rate-Limit",
    values: amounts([50, 100, 200, 300, 600, 1000], "requests a minute", "Anfragen pro Minute"),
  },
  { en: "log level", de: "das Log-Level", values: ["debug", "info", "warn", "error", "trace"] },
  {
    en: "frontend framework",
    de: "das Frontend-Framework",
    values: ["Svelte", "React", "Vue", "Solid", "Angular", "htmx"],
  },
  {
    en: "number of replicas",
    de: "die Anzahl der Replikas",
    values: ["two", "three", "four", "five", "six", "seven"].map((en, at) => ({
      en,
      de: ["zwei", "drei", "vier", "fünf", "sechs", "sieben"][at] ?? en,
    })),
  },
  {
    en: "backup time",
    de: "die Uhrzeit des Backups",
    values: ["02:00", "03:30", "04:15", "01:45", "23:30"],
  },
  {
    en: "code name",
    de: "der Codename",
    values: ["Heron", "Otter", "Lynx", "Badger", "Kestrel", "Marten", "Osprey"],
  },
];

export const SERVICES: Record<Language, readonly string[]> = {
  en: [
    "billing",
    "ingest",
    "the gateway",
    "the scheduler",
    "search",
    "the mailer",
    "the report builder",
    "the auth service",
    "the webhook sender",
    "the importer",
    "the exporter",
    "the notifier",
    "the catalogue",
    "checkout",
    "the stock service",
    "pricing",
    "staging billing",
    "the staging gateway",
    "the old mailer",
    "the public site",
  ],
  de: [
    "Kundenportal",
    "Lagerverwaltung",
    "Rechnungslauf",
    "Terminplaner",
    "Suchdienst",
    "Mailversand",
    "Berichtswesen",
    "Anmeldedienst",
    "Schnittstelle A",
    "Schnittstelle B",
    "Importer",
    "Exporter",
    "Bestellannahme",
    "Katalog",
    "Kasse",
    "Preisrechner",
    "Test-Kundenportal",
    "Test-Kasse",
    "Altsystem",
    "Webauftritt",
  ],
};
