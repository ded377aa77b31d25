/** Joins words into one command of the system's shell. */
export function toShell(words: readonly string[], platform: string = process.platform): string {
  return words.map((word) => quoteForShell(word, platform)).join(" ");
}

/**
 * Quotes a word for the system's shell. On Windows the result works in cmd.exe, PowerShell and Git's bash:
 * all three accept quotation marks and slashes in paths, but bash drops backslashes. PowerShell alone
 * needs `&` before a program whose path contains a space.
 */
export function quoteForShell(word: string, platform: string = process.platform): string {
  if (platform === "win32") {
    const path = /^[a-z]:\\/i.test(word) ? word.replaceAll("\\", "/") : word;
    return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path.replaceAll('"', '\\"')}"`;
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The word that a person types to start a program in the `PATH`. */
export function nameOfProgram(file: string, platform: string = process.platform): string {
  return platform === "win32" ? file.replace(/\.exe$/i, "") : file;
}

/** The word that a person types to start a program in the current folder. */
export function inThisFolder(name: string, platform: string = process.platform): string {
  return quoteForShell(platform === "win32" ? `.\\${name}` : `./${name}`, platform);
}

/** The words that start a program that may be a script. On Windows npm's programs are scripts, which only a shell can start. */
export function startingScript(
  words: readonly string[],
  platform: string = process.platform,
): string[] {
  return platform === "win32" ? ["cmd", "/c", ...words] : [...words];
}
