import type { SecurityRecord } from "./event-store.ts";

/** The fields of an event for programs, in the order of the CSV columns. */
const FIELDS = {
  at: ({ at }) => at.toISOString(),
  event: ({ event }) => event,
  account_id: ({ accountId }) => accountId,
  actor_id: ({ actorId }) => actorId,
  via: ({ via }) => via,
  address: ({ address }) => address,
  agent: ({ agent }) => agent,
  subject_id: ({ subjectId }) => subjectId,
  subject: ({ subject }) => subject,
  amount: ({ amount }) => amount,
  times: ({ times }) => times,
} satisfies Record<string, (record: SecurityRecord) => string | number | null>;

/** An event for programs. */
export function toJson(record: SecurityRecord): Record<string, string | number | null> {
  return Object.fromEntries(Object.entries(FIELDS).map(([name, read]) => [name, read(record)]));
}

/** The head of the CSV file (RFC 4180). */
export const CSV_HEAD = `${Object.keys(FIELDS).join(",")}\r\n`;

/** An event as a CSV line. Spreadsheets must not read a cell as a formula, whoever chose its text. */
export function toCsv(record: SecurityRecord): string {
  return `${Object.values(toJson(record)).map(cell).join(",")}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null || typeof value === "number") return `${value ?? ""}`;
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
