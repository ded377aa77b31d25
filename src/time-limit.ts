/**
 * Waits for work, but no longer than a limit. Work that is late goes on; its result is ignored.
 * @param late called when the limit has passed: its value is the result, or it throws the error
 */
export async function withTimeLimit<Result, Late>(
  work: Result | Promise<Result>,
  milliseconds: number,
  late: () => Late,
): Promise<Result | Late> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // Cleared below: a timer that still runs keeps the program from ending.
  const timer = setTimeout(resolve, milliseconds);
  try {
    return await Promise.race([work, promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
