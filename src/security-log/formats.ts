import type { SecurityRecord } from "./event-store.ts";

/** The fields of an event for programs, in the order of the CSV columns. */
const FIELDS = [
  "at",
  "event",
  "account_id",
  "actor_id",
  "via",
  "address",
  "agent",
  "subject_id",
  "subject",
  "amount",
  "times",
] as const;

type Fields = Record<(typeof FIELDS)[number], string | number | null>;

/** An event for programs. */
export function toJson(record: SecurityRecord): Fields {
  const { at, event, via, address, agent, subject, amount, times } = record;
  const { accountId, actorId, subjectId } = record;
  return {
    at: at.toISOString(),
    event,
    account_id: accountId,
    actor_id: actorId,
    via,
    address,
    agent,
    subject_id: subjectId,
    subject,
    amount,
    times,
  };
}

/** The head of the CSV file (RFC 4180). */
export const CSV_HEAD = `${FIELDS.join(",")}\r\n`;

/** An event as a CSV line. Spreadsheets must not read a cell as a formula, whoever chose its text. */
export function toCsv(record: SecurityRecord): string {
  const fields = toJson(record);
  return `${FIELDS.map((name) => cell(fields[name])).join(",")}\r\n`;
}

function cell(value: string | number | null): string {
  if (value === null || typeof value === "number") return `${value ?? ""}`;
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
