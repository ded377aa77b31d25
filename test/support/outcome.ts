/**
 * How a promise ended, for `expect(await outcomeOf(promise)).toThrow(…)`: a function that returns the value, or throws
 * the reason again. `.rejects` and `.resolves` wait within the matcher, where no time limit of a test reaches them: a
 * promise that is never settled stops the whole run (Bun 1.4.5, https://github.com/oven-sh/bun/issues/33261).
 */
export async function outcomeOf<T>(promise: T | PromiseLike<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (reason) {
    return () => {
      throw reason;
    };
  }
}

/** The reason for which a promise was rejected. @throws Error if it was not */
export function rejectionOf(promise: unknown): Promise<unknown> {
  return Promise.resolve(promise).then(
    (value) => {
      throw new Error(`not rejected, but resolved with ${Bun.inspect(value)}`);
    },
    (reason) => reason,
  );
}
