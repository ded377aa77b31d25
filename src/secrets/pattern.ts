/** A regular expression as data: it is compiled when a text has a keyword of its pattern. */
export interface Expression {
  source: string;
  flags: string;
}

/**
 * What one kind of secret looks like. The secret is the longest group that matched, or else the whole
 * match.
 */
export interface Pattern extends Expression {
  /** Its name, such as `github-pat`: words of ASCII with hyphens. */
  kind: string;
  /** In lower case. A text without any of them has no such secret. */
  keywords: readonly string[];
  /** Shannon's entropy in bits for each character: a secret has more. */
  entropy?: number;
  /** What is no secret although it looks like one. */
  harmless?: readonly Expression[];
  /** The same for all that the pattern matched, the secret's name included. */
  harmlessMatch?: readonly Expression[];
  /** In lower case. What has one of these inside was not made by chance. */
  stopwords?: readonly string[];
}

/** Where a secret is in a text: offsets as of `String.slice`. */
export interface FoundSecret {
  kind: string;
  start: number;
  end: number;
}
