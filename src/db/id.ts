/**
 * A new identity such as `acc_0197f2c4e0b47c3a9a1d5b8e2f60c711`: what it names, and a UUIDv7 in hex
 * (RFC 9562), so that identities sort by the time they were made.
 * @param now milliseconds since 1970
 */
export function createId(kind: string, now: number): string {
  return `${kind}_${Bun.randomUUIDv7("hex", now).replaceAll("-", "")}`;
}
