/** A file that is part of the program. The import is a path that Bun can open. */
declare module "*.safetensors" {
  const path: string;
  export default path;
}
