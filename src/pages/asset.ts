/** A stylesheet, script, font or icon of the pages. */
export interface Asset {
  readonly content: Uint8Array<ArrayBuffer>;
  /** Whether the content is text, which is compressed. */
  readonly isText: boolean;
  readonly type: string;
  readonly path: string;
}

/** Removes comments from our scripts and stylesheets, where comments have lines of their own. Licences stay. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^[^\S\n]*(?:\/\*(?!!)[\s\S]*?\*\/|\/\/.*)[^\S\n]*\n/gm, "");
}

/** Makes an asset whose path contains a hash of its content, so browsers may cache it forever. */
export function asset(content: string | Uint8Array, extension: string, type: string): Asset {
  const hash = new Bun.CryptoHasher("sha256").update(content).digest("hex").slice(0, 16);
  const isText = typeof content === "string";
  return {
    content: isText ? new TextEncoder().encode(content) : new Uint8Array(content),
    isText,
    type: isText ? `${type}; charset=utf-8` : type,
    path: `/assets/${hash}.${extension}`,
  };
}
