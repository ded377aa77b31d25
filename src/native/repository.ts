/** The https address of a repository, without a slash at its end: https://github.com/OWNER/ctxd. */
export const REPOSITORY = /^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/;
