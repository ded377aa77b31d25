/** Files embedded in the program, imported as text or as a path that Bun can open. */
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.svg" {
  const text: string;
  export default text;
}
declare module "*.min.js" {
  const text: string;
  export default text;
}
/** A script that runs in browsers. */
declare module "*.browser.js" {
  const text: string;
  export default text;
}

declare module "*.plugin.js" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.woff2" {
  const path: string;
  export default path;
}
declare module "*/browser/standalone.js" {
  const path: string;
  export default path;
}
