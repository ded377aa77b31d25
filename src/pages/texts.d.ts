/** Text that is part of the program. */
declare module "*.css" {
  const text: string;
  export default text;
}
declare module "*.min.js" {
  const text: string;
  export default text;
}
declare module "*/charts.js" {
  const text: string;
  export default text;
}
declare module "*/enhance.js" {
  const text: string;
  export default text;
}
declare module "*/passkeys.js" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
