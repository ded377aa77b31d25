/** A generator of pseudo-random numbers from 0 to 1, always the same ones (xorshift, Marsaglia 2003). */
export function createRandomNumbers(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
