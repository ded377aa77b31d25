/** The steps of a flush, in order. */
export const FLUSH_STEPS = [
  "rows added",
  "added files kept",
  "base written",
  "base kept",
  "indexes made",
  "indexes kept",
  "checkpoint recorded",
  "former base removed",
  "log expunged",
] as const;

/**
 * Further steps where other processes write to the same table. The first step is to take the lease. If another
 * process has flushed the table, opening its base replaces all other steps.
 */
export const SHARED_STEPS = ["lease taken", "base of others opened"] as const;
