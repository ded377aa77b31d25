/**
 * The address of the repository that the executable was built from, without a trailing slash. Null in a
 * checkout: `bun run build` replaces this module by a generated one when the address is known.
 */
export const repository: string | null = null;
