/** Characters of a password. */
export const PASSWORD_LENGTH = { min: 8, max: 1_024 } as const;

/** More than OWASP's minimum for argon2id (19 MiB, 2 passes): about 0.1 s on one core. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 65_536, timeCost: 2 } as const;

/** The hash of a password, in PHC format with its own salt. `checkPassword` validates passwords. */
export async function hashPassword(password: string): Promise<string> {
  return Bun.password.hash(normalise(password), ARGON2ID);
}

/**
 * Whether a password matches a hash. Without a hash it takes the same time, so that the time of an
 * answer does not reveal which accounts exist.
 */
export async function matchesPassword(password: string, hash: string | null): Promise<boolean> {
  if (!hasAllowedLength(password)) return false;
  if (hash !== null) return Bun.password.verify(normalise(password), hash);
  await Bun.password.hash(normalise(password), ARGON2ID);
  return false;
}

/** Whether a password is neither too short nor too long. */
export function hasAllowedLength(password: string): boolean {
  const length = [...password].length;
  return length >= PASSWORD_LENGTH.min && length <= PASSWORD_LENGTH.max;
}

/** Normalises letters with accents, which keyboards compose in different ways. */
function normalise(password: string): string {
  return password.normalize("NFC");
}
