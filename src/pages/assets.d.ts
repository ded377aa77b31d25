/** Text that is part of the program. */
declare module "*.css" {
  const text: string;
  export default text;
}
