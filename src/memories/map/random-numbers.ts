/** Makes what gives numbers from 0 to 1 that look random, the same ones each time (xorshift, Marsaglia 2003). */
export function createRandomNumbers(): () => number {
  let state = 0x9e3779b9;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
