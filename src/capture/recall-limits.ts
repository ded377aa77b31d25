/** Characters of a recalled text: what a caller may ask for, and the default. */
export const RECALL_CHARACTERS = { min: 200, max: 100_000, default: 4_000 };
