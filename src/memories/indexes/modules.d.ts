/** A module that is part of the program; the import is a path that Bun can open. */
declare module "*.wasm" {
  const path: string;
  export default path;
}

/** It has no types of its own. */
declare module "wink-porter2-stemmer" {
  export default function stem(word: string): string;
}
