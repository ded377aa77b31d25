import { expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { version as present } from "../../package.json" with { type: "json" };
import { notesOf } from "../../src/build/release/notes.ts";
import { disagreements, setVersion } from "../../src/build/release/version.ts";
import { readChangelog } from "../../src/text/changelog.ts";
import { outcomeOf } from "../support/outcome.ts";

const ROOT = join(import.meta.dir, "..", "..");
const RELEASED = `# Changelog

## [Unreleased]

### Added
- A door, see [doors](src/doors.md).

## [0.1.0] - 2026-01-02

### Added
- A house, after [a plan](https://example.com/plan).
`;

/** A copy of the files that contain the version, with a changelog. */
async function checkout(changelog: string) {
  const path = mkdtempSync(join(tmpdir(), "ctxd-version-"));
  for (const file of [
    "package.json",
    "src/clients/python/pyproject.toml",
    "src/deploy/helm/Chart.yaml",
  ]) {
    cpSync(join(ROOT, file), join(path, file), { recursive: true });
  }
  await Bun.write(join(path, "CHANGELOG.md"), changelog.replaceAll("0.1.0", present));
  return {
    path,
    read: () => Bun.file(join(path, "CHANGELOG.md")).text(),
    [Symbol.dispose]: () => rmSync(path, { recursive: true }),
  };
}

test("a new version is set everywhere, and as a heading above the unreleased changes", async () => {
  using tree = await checkout(RELEASED);
  expect(await disagreements("9.8.7", tree.path)).toHaveLength(5);
  await setVersion("9.8.7", "2026-11-22", tree.path);
  expect(await disagreements("9.8.7", tree.path)).toEqual([]);
  const sections = readChangelog(await tree.read());
  expect(sections).toMatchObject([
    { version: null, date: null, text: "" },
    { version: "9.8.7", date: "2026-11-22", text: expect.stringContaining("A door") },
    { version: present, date: "2026-01-02", text: expect.stringContaining("A house") },
  ]);
  // The rest of the file has not changed.
  const before = RELEASED.replaceAll("0.1.0", present);
  expect((await tree.read()).replace("\n\n## [9.8.7] - 2026-11-22", "")).toBe(before);
});

test("a version is refused that is not newer, is invalid or has no changes", async () => {
  using tree = await checkout(RELEASED);
  const refused = (version: string) => setVersion(version, "2026-11-22", tree.path);
  expect(await outcomeOf(refused(present))).toThrow("not newer");
  expect(await outcomeOf(refused("0.0.1"))).toThrow("not newer");
  expect(await outcomeOf(refused("v1.0"))).toThrow("not three numbers");
  await refused("9.8.7");
  expect(await outcomeOf(refused("9.8.8"))).toThrow("has no unreleased changes");
  expect(await disagreements("9.8.7", tree.path)).toEqual([]);
});

test("the checkout has the same version everywhere", async () => {
  const found = await disagreements(present);
  expect(found.filter((sentence) => !sentence.startsWith("CHANGELOG.md"))).toEqual([]);
});

test("no other file of the repository contains the version", async () => {
  const known = [
    ...["package.json", "CHANGELOG.md", "src/clients/python/pyproject.toml"],
    dirname("src/deploy/helm/Chart.yaml"),
  ];
  const { stdout } = Bun.spawnSync(
    ["git", "grep", "--files-with-matches", "-E", `(^|[^0-9.])${present}($|[^0-9.])`],
    { cwd: ROOT },
  );
  const files = stdout
    .toString()
    .split("\n")
    .filter((file) => /\.(json|ya?ml|rb|ts|sh|toml)$|Dockerfile/.test(file));
  // Versions of other things, and in tests.
  const others = /^(test\/|src\/embedding\/manifest\.ts)/;
  expect(
    files.filter((file) => !others.test(file) && !known.some((each) => file.startsWith(each))),
  ).toEqual([]);
});

test("release notes are the section of the changelog, with links that work on GitHub", () => {
  const release = {
    version: "0.1.0",
    repository: "https://github.com/owner/ctxd",
    executables: {},
    out: "/nowhere",
  };
  const notes = notesOf(release, RELEASED);
  expect(notes).toStartWith(
    "### Added\n- A house, after [a plan](https://example.com/plan).\n\n## ",
  );
  expect(notes).toContain(
    "--certificate-identity https://github.com/owner/ctxd/.github/workflows/release.yml@refs/tags/v0.1.0",
  );
  expect(notes).toContain("gh attestation verify FILE --repo owner/ctxd");
  // A release of a version without a heading has the unreleased changes.
  expect(notesOf({ ...release, version: "0.2.0" }, RELEASED)).toContain(
    "[doors](https://github.com/owner/ctxd/blob/v0.2.0/src/doors.md)",
  );
  expect(() => notesOf(release, "# Changelog\n")).toThrow("has no changes of");
});
