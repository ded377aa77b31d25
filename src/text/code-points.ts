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
