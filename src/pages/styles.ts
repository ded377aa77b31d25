import text from "./styles.css" with { type: "text" };

const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);

/** The stylesheet of all pages. Another one has another path, so that a browser may keep it for good. */
export const STYLES = { text, path: `/assets/${hash}.css` };
