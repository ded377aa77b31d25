/** A file that pages ask for beside their HTML. */
export interface Asset {
  readonly content: Uint8Array<ArrayBuffer>;
  /** Whether it becomes smaller when it is compressed. */
  readonly isText: boolean;
  readonly type: string;
  readonly path: string;
}

/** A script or stylesheet of ours without its comments, each of which has lines of its own; those of licences stay. */
export function withoutComments(text: string): string {
  return text.replaceAll(/^[^\S\n]*(?:\/\*(?!!)[\s\S]*?\*\/|\/\/.*)[^\S\n]*\n/gm, "");
}

/** Other content has another path, so that a browser may keep a file for good. */
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
