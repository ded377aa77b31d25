/** What the servers and stores of this process have said last, for the error of a test that waits in vain. */
const lines: string[] = [];
const MOST = 30;

export function noteLine(line: string): void {
  if (lines.push(line) > MOST) lines.shift();
}

export const recentLines = (): readonly string[] => lines;
