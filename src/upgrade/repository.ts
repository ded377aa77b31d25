/**
 * The address of the repository that the executable was built from, without a slash at its end. Null in
 * a checkout: `bun run build` puts a generated module in the place of this one, where it knows.
 */
export const repository: string | null = null;
