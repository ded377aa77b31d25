/** @jsxRuntime automatic @jsxImportSource #pages */
import { expect, test } from "bun:test";
import decodeQR from "qr/decode.js";
import { QrCode } from "../../src/dashboard/account/qr-code.tsx";

/** Pixels per module. */
const SCALE = 4;

/** The picture as a camera sees it. */
function photograph(svg: string) {
  const [, size = "0"] = /viewBox="0 0 (\d+) \1"/.exec(svg) ?? [];
  const width = Number(size) * SCALE;
  const data = new Uint8Array(width * width * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = Number(y) * SCALE; row < (Number(y) + 1) * SCALE; row++) {
      const start = (row * width + Number(x) * SCALE) * 4;
      for (let at = start; at < start + SCALE * 4; at += 4) data.fill(0, at, at + 3);
    }
  }
  return { width, height: width, data };
}

test.each(["x", `otpauth://totp/ctxd:${"you".repeat(80)}@example.com?secret=ABCDEFGH&issuer=ctxd`])(
  "a camera reads %s",
  (text) => {
    const svg = String(<QrCode text={text} label={`"><script>`} />);
    expect(decodeQR(photograph(svg))).toBe(text);
    expect(svg).not.toContain("<script>");
  },
);
