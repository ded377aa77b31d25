/**
 * Preloaded by bunfig.toml: in the process of the tests a hash of a password takes no time. The hashes
 * that people's passwords get take 0.1 s and 64 MiB each, which no test gains from but those of the
 * cost itself. What tests start as a program has the real cost.
 */
const real = Bun.password.hash;

const quick: typeof real = (password) =>
  real(password, { algorithm: "argon2id", memoryCost: 64, timeCost: 1 });
Bun.password.hash = quick;

/** Hashes passwords as the program does, for a test of what that costs. */
export async function withRealPasswords<Result>(work: () => Promise<Result>): Promise<Result> {
  Bun.password.hash = real;
  try {
    return await work();
  } finally {
    Bun.password.hash = quick;
  }
}
