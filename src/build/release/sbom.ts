import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cyclonedxEsbuildPlugin } from "@cyclonedx/cyclonedx-esbuild";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { entryPoints, redirectAddons } from "../bundle.ts";
import type { Release } from "./release-info.ts";
import { type Component, embeddedComponents, executableComponents } from "./sbom-components.ts";

/** The fields of a CycloneDX document that are read or changed here. */
interface Bom {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const SPECIFICATION = "1.6";
/** Placeholders of the native addons in the bundle. The addons are listed as their packages instead. */
const PLACEHOLDER = /^VirtualComponent /;

/**
 * Writes the list of all components of the executables in the CycloneDX format: the npm packages whose code is in
 * the bundle, according to the bundler, and the components that the build adds. It depends only on the commit.
 */
export async function make(release: Release): Promise<string[]> {
  const bom = await bundledComponents();
  const isPlaceholder = (ref: string | undefined) => ref !== undefined && PLACEHOLDER.test(ref);
  const embedded = await embeddedComponents(release);
  const known = new Set(bom.components.map(({ purl }) => purl?.split("?")[0]));
  const added = embedded.filter(({ purl }) => purl === undefined || !known.has(purl));
  const { component } = bom.metadata;
  const refs = added.map((each) => each["bom-ref"] ?? "");
  const document = {
    ...bom,
    metadata: {
      ...bom.metadata,
      component: { ...component, components: await executableComponents(release) },
    },
    components: [...bom.components.filter((each) => !isPlaceholder(each["bom-ref"])), ...added],
    dependencies: bom.dependencies
      .filter(({ ref }) => !isPlaceholder(ref))
      .map(({ ref, dependsOn = [] }) => ({
        ref,
        dependsOn: [
          ...dependsOn.filter((each) => !isPlaceholder(each)),
          ...(ref === component["bom-ref"] ? refs : []),
        ],
      }))
      .concat(refs.map((ref) => ({ ref, dependsOn: [] }))),
  };
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const errors = await new Validation.JsonStrictValidator(Spec.Version.v1dot6).validate(text);
  if (errors !== null) throw new Error(`the SBOM is not valid: ${JSON.stringify(errors)}`);
  const path = join(release.out, "sbom.cdx.json");
  await Bun.write(path, text);
  return [path];
}

/** The packages whose code is in the bundle, from the bundler's list of the files that it read. */
async function bundledComponents(): Promise<Bom> {
  const folder = await mkdtemp(join(tmpdir(), "ctxd-sbom-"));
  const outputFile = join(folder, "bom.json");
  try {
    await Bun.build({
      entrypoints: entryPoints(),
      target: "bun",
      splitting: true,
      outdir: join(folder, "bundle"),
      metafile: true,
      plugins: [
        redirectAddons,
        cyclonedxEsbuildPlugin({
          specVersion: SPECIFICATION,
          outputFile,
          outputReproducible: true,
          logLevel: "silent",
        }),
      ],
    });
    return await Bun.file(outputFile).json();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
