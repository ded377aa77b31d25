/** The SHA-256 of a file, in hex, as `sha256sum` writes it. */
export async function sha256Of(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk);
  return hash.digest("hex");
}
