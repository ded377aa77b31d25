/**
 * Returns a function that converts an offset in code points to one in UTF-16 units. The tokenizer
 * counts code points, JavaScript strings count UTF-16 units.
 */
export function unitsOf(text: string): (point: number) => number {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) return (point) => Math.min(point, text.length);
  const units: number[] = [];
  for (let unit = 0; unit < text.length; unit += (text.codePointAt(unit) ?? 0) > 0xffff ? 2 : 1) {
    units.push(unit);
  }
  return (point) => units[point] ?? text.length;
}

/** Number of characters with two UTF-16 units in a part of a well-formed text. */
export function pairsIn(text: string, start = 0, end = text.length): number {
  let pairs = 0;
  for (let at = start; at < end; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xd800) pairs++;
  return pairs;
}

/** The date of a moment in UTC, such as `21 Nov 2026`. */
export function formatDate(instant: string): string {
  // As in `Sat, 21 Nov 2026 08:00:00 GMT`. An `Intl.DateTimeFormat` takes 10 ms to create.
  const [, day, month, year] = new Date(instant).toUTCString().split(" ");
  return `${Number(day)} ${month} ${year}`;
}

/** The first line of a text as a title, at most 80 characters. */
export function firstLineOf(content: string): string {
  const line = content.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length <= 80 ? line : excerpt(line, 79);
}

/** A text of at most `length` UTF-16 units: its beginning and `…` where it is longer. Never ends within a character. */
export function excerpt(content: string, length: number): string {
  if (content.length <= length) return content;
  const start = content.slice(0, Math.max(0, length - 1));
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}
