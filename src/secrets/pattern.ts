/** A regular expression as data. It is compiled when a text first contains a keyword of its pattern. */
export interface Expression {
  source: string;
  flags: string;
}

/**
 * The form of one kind of secret. The secret is the longest matched group, or the whole match without
 * groups.
 */
export interface Pattern extends Expression {
  /** Name of the kind, such as `github-pat`: ASCII words with hyphens. */
  kind: string;
  /** In lower case. A text without any of them has no secret of this kind. */
  keywords: readonly string[];
  /** Shannon entropy in bits per character that a secret must exceed. */
  entropy?: number;
  /** Matched texts that are no secrets. */
  harmless?: readonly Expression[];
  /** The same, tested against the whole match including the secret's name. */
  harmlessMatch?: readonly Expression[];
  /** In lower case. A text that contains one is a word, not a random secret. */
  stopwords?: readonly string[];
}

/** The position of a secret in a text, as offsets of `String.slice`. */
export interface FoundSecret {
  kind: string;
  start: number;
  end: number;
}
