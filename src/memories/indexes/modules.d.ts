/** A module that is part of the program. The import is a path that Bun can open. */
declare module "*.wasm" {
  const path: string;
  export default path;
}

/** The package has no types. */
declare module "wink-porter2-stemmer" {
  export default function stem(word: string): string;
}
