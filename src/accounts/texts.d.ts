/** Text that is part of the program. */
declare module "*/common-passwords.txt" {
  const text: string;
  export default text;
}
