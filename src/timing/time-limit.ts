/**
 * Waits for work, but no longer than a limit. Late work continues; its result is ignored.
 * @param late called when the limit has passed. It returns the result or throws an error.
 */
export async function withTimeLimit<Result, Late>(
  work: Result | Promise<Result>,
  milliseconds: number,
  late: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Cleared below: a running timer keeps the program alive.
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
