/** The remaining attempts of each key, such as of an address that guesses passwords. */
export interface Tries {
  /** Uses one try of a key. When none remains, returns the seconds until the next one. */
  take(key: string): Promise<number | null>;
  /** Returns a try, after a successful attempt. */
  giveBack(key: string): Promise<void>;
}

/** A key has `tries` at once, and regains as many in each `period`. */
interface TryLimit {
  tries: number;
  /** Milliseconds. */
  period: number;
  /**
   * In memory, keys share this many counters, so that a flood of keys evicts none. A secret salt decides
   * which keys share one.
   */
  places?: number;
}

/** Short-lived values that may be lost, of one server or of all servers that share a database. */
export interface Ephemeral {
  /** Stores a value and replaces an earlier one. @param lifetime in milliseconds */
  put(key: string, value: string, lifetime: number): Promise<void>;
  /** Removes and returns a value; null when it was taken before or has expired. */
  take(key: string): Promise<string | null>;
  /** Stores a key. Returns false when it is already stored. @param lifetime in milliseconds */
  add(key: string, lifetime: number): Promise<boolean>;
  /** @param name separates the keys of this limit from those of others */
  limit(name: string, limit: TryLimit): Tries;
}
