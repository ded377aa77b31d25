import { expect, test } from "bun:test";
import { createMapDrawing } from "../../../src/memories/map/draw-in-worker.ts";
import { findNeighbours, layOut, placeAmong } from "../../../src/memories/map/layout.ts";
import { createRandom } from "../../support/random.ts";

const DIMENSION = 24;
const SUBJECTS = 4;
const OF_EACH = 60;

/** Vectors of length 1 around some that have nothing to do with each other. */
function subjects() {
  const random = createRandom(3);
  const vectors = new Float32Array(SUBJECTS * OF_EACH * DIMENSION);
  for (let point = 0; point < SUBJECTS * OF_EACH; point++) {
    const own = Array.from({ length: DIMENSION }, (_, at) =>
      at === point % SUBJECTS ? 1 : 0.3 * (random.next() - 0.5),
    );
    const length = Math.hypot(...own);
    vectors.set(
      own.map((value) => value / length),
      point * DIMENSION,
    );
  }
  return vectors;
}

test("the neighbours of a point are those that are nearest, the nearest first", () => {
  const random = createRandom(1);
  const points = Float32Array.from({ length: 3 * 200 }, () => random.next());
  const { count, points: found, distances } = findNeighbours(points, 3, 5);
  expect(count).toBe(5);
  const far = (a: number, b: number) =>
    Math.hypot(...[0, 1, 2].map((at) => (points[3 * a + at] ?? 0) - (points[3 * b + at] ?? 0)));
  for (let point = 0; point < 200; point++) {
    const nearest = [...Array(200).keys()]
      .filter((other) => other !== point)
      .sort((a, b) => far(point, a) - far(point, b))
      .slice(0, 5);
    expect([...found.subarray(5 * point, 5 * point + 5)]).toEqual(nearest);
    expect(distances[5 * point]).toBeCloseTo(far(point, nearest[0] ?? 0), 5);
  }
});

test("what is about the same is near, and the picture fills a square", () => {
  const places = layOut(subjects(), DIMENSION);
  expect(Math.min(...places)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...places)).toBeLessThanOrEqual(1);
  const { points } = findNeighbours(places, 2, 10);
  const same = points.filter((other, at) => other % SUBJECTS === Math.floor(at / 10) % SUBJECTS);
  expect(same.length / points.length).toBeGreaterThan(0.98);
});

test("new memories get a place near what is about the same, and all others stay", () => {
  const vectors = subjects();
  const former = layOut(vectors, DIMENSION);
  const [first, last] = [0, former.length / 2 - 1];
  const known = former.map((place, at) => ([first, last].includes(at >> 1) ? Number.NaN : place));
  const places = placeAmong(vectors, DIMENSION, known);
  expect(places.subarray(2, 2 * last)).toEqual(former.subarray(2, 2 * last));
  const { count, points } = findNeighbours(places, 2, 10);
  for (const point of [first, last]) {
    const around = points.subarray(count * point, count * (point + 1));
    expect(around.filter((other) => other % SUBJECTS === point % SUBJECTS).length).toBeGreaterThan(
      8,
    );
  }
});

test("the same vectors have the same places each time", () => {
  expect(layOut(subjects(), DIMENSION)).toEqual(layOut(subjects(), DIMENSION));
});

test.each([1, 2, 3, 7])("%d memories have their places, also when they say the same", (size) => {
  const same = new Float32Array(size * DIMENSION).fill(DIMENSION ** -0.5);
  for (const vectors of [same, subjects().slice(0, size * DIMENSION)]) {
    const places = layOut(vectors, DIMENSION);
    expect(places).toHaveLength(2 * size);
    expect(places.every((value) => value >= 0 && value <= 1)).toBe(true);
  }
});

test("a thread draws a map and names its parts by what only their texts have", async () => {
  const words = ["invoices", "football", "cooking", "gardens"];
  const texts = Array.from(
    { length: SUBJECTS * OF_EACH },
    (_, point) => `Today Sam talks about ${words[point % SUBJECTS]} again`,
  );
  const draw = createMapDrawing();
  const { places, topics, topicOf } = await draw({
    ...{ vectors: subjects(), dimension: DIMENSION, texts, former: null },
  });
  expect(places).toHaveLength(2 * texts.length);
  for (const [number, topic] of topics.entries()) {
    const own = topicOf.reduce((sum, each) => sum + (each === number ? 1 : 0), 0);
    expect(topic.memories).toBe(own);
    const [typical = -1] = topic.typical;
    expect(topic.words[0]).toBe(words[typical % SUBJECTS] ?? "");
  }
});

test("a map that takes too long is given up, and those after it are still answered", async () => {
  const texts = Array.from({ length: SUBJECTS * OF_EACH }, () => "text");
  const draw = createMapDrawing(1);
  const late = () => draw({ vectors: subjects(), dimension: DIMENSION, texts, former: null });
  const outcomes = await Promise.allSettled([late(), late()]);
  for (const { status, reason } of outcomes as PromiseRejectedResult[]) {
    expect({ status, code: reason.code }).toEqual({ status: "rejected", code: "unavailable" });
    expect(String(reason.cause)).toContain("longer than 1 ms");
  }
});

test("a map for which nobody waits ends at once, and holds up no other", async () => {
  const draw = createMapDrawing();
  const leaving = new AbortController();
  const large = {
    vectors: new Float32Array(10_000 * 64).fill(0.125),
    dimension: 64,
    texts: [],
    former: null,
  };
  const vectors = new Float32Array(2 * 64).fill(0.125);
  const small = { vectors, dimension: 64, texts: ["a", "b"], former: null };
  const given = Promise.allSettled([draw(large, leaving.signal), draw(large, leaving.signal)]);
  const next = draw(small);
  leaving.abort(new Error("gone"));
  for (const outcome of await given) expect(outcome.status).toBe("rejected");
  expect((await next).places).toHaveLength(4);
});
