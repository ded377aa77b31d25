import { join } from "node:path";
import { Glob } from "bun";
import type { Release } from "./release-info.ts";
import { writeZip } from "./zip.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");
const CLIENT = join(ROOT, "src", "clients", "python");

interface Project {
  name: string;
  description: string;
  license: string;
  classifiers: string[];
  "requires-python": string;
  "optional-dependencies": Record<string, string[]>;
}

/**
 * Writes the Python client as a wheel for `pip install`:
 * https://packaging.python.org/en/latest/specifications/binary-distribution-format/
 */
export async function make(release: Release): Promise<string[]> {
  const { project } = Bun.TOML.parse(await textOf(CLIENT, "pyproject.toml")) as {
    project: Project;
  };
  const stem = `${project.name.replaceAll("-", "_")}-${release.version}`;
  const about = `${stem}.dist-info`;
  const source = join(CLIENT, "src");
  const modules = [...new Glob("**/*{.py,py.typed}").scanSync(source)].sort();
  const files = [
    ...(await Promise.all(
      modules.map(async (path) => ({ name: path, text: await textOf(source, path) })),
    )),
    { name: `${about}/METADATA`, text: await metadata(project, release) },
    { name: `${about}/WHEEL`, text: WHEEL },
    { name: `${about}/licenses/LICENSE`, text: await textOf(ROOT, "LICENSE") },
  ];
  const record = `${about}/RECORD`;
  const lines = [...files.map(({ name, text }) => `${name},${digest(text)}`), `${record},,`];
  const path = join(release.out, `${stem}-py3-none-any.whl`);
  await writeZip(path, [...files, { name: record, text: `${lines.join("\n")}\n` }]);
  return [path];
}

const WHEEL = "Wheel-Version: 1.0\nGenerator: ctxd\nRoot-Is-Purelib: true\nTag: py3-none-any\n";

/** https://packaging.python.org/en/latest/specifications/core-metadata/ */
async function metadata(project: Project, { version, repository }: Release): Promise<string> {
  const { name, description, license, classifiers, "requires-python": python } = project;
  const optional = Object.entries(project["optional-dependencies"]).flatMap(
    ([extra, requirements]) => [
      `Provides-Extra: ${extra}`,
      ...requirements.map((requirement) => `Requires-Dist: ${requirement}; extra == "${extra}"`),
    ],
  );
  const fields = [
    "Metadata-Version: 2.4",
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${description}`,
    `License-Expression: ${license}`,
    "License-File: LICENSE",
    `Project-URL: Source, ${repository}`,
    ...classifiers.map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${python}`,
    ...optional,
    "Description-Content-Type: text/markdown",
  ];
  return `${fields.join("\n")}\n\n${await textOf(CLIENT, "README.md")}`;
}

function digest(text: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("base64url");
  return `sha256=${hash},${Buffer.byteLength(text)}`;
}

const textOf = (folder: string, path: string) => Bun.file(join(folder, path)).text();
