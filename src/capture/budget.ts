/** Characters of what is recalled at the most: what may be asked for, and what it is otherwise. */
export const BUDGET = { least: 200, most: 100_000, usual: 4_000 };
