/** Words as one command of the system's shell. */
export function toShell(words: readonly string[], platform: string = process.platform): string {
  return words.map((word) => quoteForShell(word, platform)).join(" ");
}

/**
 * A word for the system's shell: a POSIX one, or on Windows whichever runs it, cmd.exe, PowerShell or
 * the bash of Git. All of these take quotation marks, and slashes in paths; a backslash is eaten by
 * bash. Only PowerShell needs `&` before a program whose path has a space.
 */
export function quoteForShell(word: string, platform: string = process.platform): string {
  if (platform === "win32") {
    const path = /^[a-z]:\\/i.test(word) ? word.replaceAll("\\", "/") : word;
    return /^[\w@%+=:,./\\-]+$/.test(path) ? path : `"${path.replaceAll('"', '\\"')}"`;
  }
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What a person types for a program in the `PATH`. */
export function nameOfProgram(file: string, platform: string = process.platform): string {
  return platform === "win32" ? file.replace(/\.exe$/i, "") : file;
}

/** What a person types for a program in the folder that they are in. */
export function inThisFolder(name: string, platform: string = process.platform): string {
  return quoteForShell(platform === "win32" ? `.\\${name}` : `./${name}`, platform);
}

/** The words that start a program that may be a script: on Windows, npm's are, and only a shell starts these. */
export function startingScript(
  words: readonly string[],
  platform: string = process.platform,
): string[] {
  return platform === "win32" ? ["cmd", "/c", ...words] : [...words];
}
