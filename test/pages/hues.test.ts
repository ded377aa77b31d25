import { describe, expect, test } from "bun:test";
import { join } from "node:path";

const SCHEMES = ["light", "dark"] as const;
type Colour = [number, number, number];
const tokens = await Bun.file(join(import.meta.dir, "../../src/pages/styles/tokens.css")).text();

/** The linear RGB components of a token's colour in a colour scheme. */
function colourOf(token: string, scheme: number): Colour {
  const [, ...both] =
    new RegExp(`--${token}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(tokens) ?? [];
  const hex = both[scheme] ?? "";
  const part = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [part(1), part(3), part(5)];
}

const times = (rows: readonly Colour[], [r, g, b]: Colour) =>
  rows.map((row) => row[0] * r + row[1] * g + row[2] * b) as Colour;

/** Normal vision, and colour blindness as matrices (Machado, Oliveira and Fernandes 2009). */
const EYES: Record<string, readonly Colour[]> = {
  most: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** The seen colour in Oklab (Ottosson 2020), where distances correspond to perceived differences. */
function seen(colour: Colour, eyes: readonly Colour[]): Colour {
  const clamped = times(eyes, colour).map((value) => Math.min(1, Math.max(0, value))) as Colour;
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    clamped,
  ).map(Math.cbrt) as Colour;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones,
  );
}

const luminance = ([r, g, b]: Colour) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
const HUES = Array.from({ length: 8 }, (_, bit) => `hue-${bit + 1}`);
/** The required difference. A difference of 0.02 is just noticeable side by side. */
const APART = 0.1;

describe.each(SCHEMES.map((scheme, at) => [scheme, at] as const))("in the %s", (_, scheme) => {
  test.each(Object.entries(EYES))("the colours of groups can be told apart with: %s", (_, eyes) => {
    for (const [at, hue] of HUES.entries()) {
      for (const other of HUES.slice(0, at)) {
        const [a, b] = [seen(colourOf(hue, scheme), eyes), seen(colourOf(other, scheme), eyes)];
        const apart = Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
        expect({ hue, other, apart: apart > APART }).toEqual({ hue, other, apart: true });
      }
    }
  });

  test("the colours contrast with the surface (WCAG 2.2, 1.4.11)", () => {
    const surface = luminance(colourOf("surface", scheme));
    for (const hue of [...HUES, "hue-9", "hue-10"]) {
      const own = luminance(colourOf(hue, scheme));
      const contrast = (Math.max(own, surface) + 0.05) / (Math.min(own, surface) + 0.05);
      expect({ hue, contrast: contrast >= 3 }).toEqual({ hue, contrast: true });
    }
  });
});
