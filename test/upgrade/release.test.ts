import { expect, test } from "bun:test";
import { fetchNewestRelease, newestReleaseOf } from "../../src/upgrade/release.ts";
import { outcomeOf } from "../support/outcome.ts";
import { serveRelease } from "../support/releases.ts";

test.each([
  ["https://github.com/owner/ctxd", "https://api.github.com/repos/owner/ctxd/releases/latest"],
  ["https://git.example.com/o/ctxd", "https://git.example.com/api/v3/repos/o/ctxd/releases/latest"],
])("the newest release of %s is at %s", (repository, address) => {
  expect(newestReleaseOf(repository)).toBe(address);
});

test("the newest release is fetched in one request", async () => {
  await using server = serveRelease({
    version: "0.3.0",
    notes: "- One\r\n- Two",
  });
  const release = await fetchNewestRelease(server.address);
  expect(release).toEqual({ version: "0.3.0", notes: "- One\n- Two" });
  expect(server.asked).toEqual(["/latest"]);
});

const LIMITED = { status: 403, headers: { "x-ratelimit-remaining": "0" } };
const REFUSED: [string, () => Response, string][] = [
  ["none", () => new Response("{}", { status: 404 }), "can't be fetched (there is no release)"],
  ["an error", () => new Response("", { status: 500 }), "can't be fetched (it answers 500)"],
  ["a limit", () => new Response("{}", LIMITED), "try again in an hour"],
  ["no JSON", () => new Response("<html>"), "names no release"],
  ["another tag", () => Response.json({ tag_name: "nightly" }), "names no release"],
  ["too much", () => new Response("x".repeat(5 << 20)), "the answer is too long"],
  [
    "a redirect to an address without https",
    () => Response.redirect("http://0.0.0.0:1/latest"),
    "can't be fetched",
  ],
];

test.each(REFUSED)("%s causes an error of one sentence", async (_, answer, message) => {
  await using server = serveRelease({ version: "0.3.0" }, answer);
  expect(await outcomeOf(fetchNewestRelease(server.address))).toThrow(message);
});

test("an address without https is not requested", async () => {
  const address = "http://releases.example.com/latest";
  expect(await outcomeOf(fetchNewestRelease(address))).toThrow("is not an https address");
});
