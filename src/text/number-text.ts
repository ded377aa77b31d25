const UNITS = ["bytes", "KB", "MB", "GB", "TB"];

/** A size as text, with two digits: `12 KB`, `1.4 GB`. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1_000;
    unit++;
  }
  const digits = unit > 0 && value < 10 ? 1 : 0;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** A number of memories as text: `1 memory`, `1,234 memories`. */
export function memoryCount(count: number): string {
  return count === 1 ? "1 memory" : `${count.toLocaleString("en")} memories`;
}

/** A number of people as text: `1 person`, `7 people`. */
export function peopleCount(count: number): string {
  return count === 1 ? "1 person" : `${count.toLocaleString("en")} people`;
}

/** A share from 0 to 1 as text: `25 %`. */
export function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
