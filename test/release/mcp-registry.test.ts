import { expect, test } from "bun:test";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { make } from "../../src/build/release/mcp-registry.ts";
import { bundleName } from "../../src/build/release/mcpb.ts";
import { mcpName } from "../../src/build/release/release-info.ts";
import { hashFile } from "../../src/native/asset.ts";
import { temporaryFolder } from "../support/database.ts";

const strict = { additionalProperties: false };
const Url = Type.String({ pattern: "^https://[^\\s]+$" });
const Stdio = Type.Object({ type: Type.Literal("stdio") }, strict);

/**
 * The part of the registry's format that we use, by its schema of 2025-12-11 and its rules for packages
 * (https://modelcontextprotocol.io/registry/package-types). Other fields are refused.
 */
const ServerJson = Type.Object(
  {
    $schema: Url,
    name: Type.String({
      pattern: "^io\\.github\\.[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
      maxLength: 200,
    }),
    title: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.String({ minLength: 1, maxLength: 100 }),
    version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+$" }),
    websiteUrl: Url,
    repository: Type.Object({ url: Url, source: Type.Literal("github") }, strict),
    packages: Type.Array(
      Type.Union([
        Type.Object(
          {
            registryType: Type.Literal("npm"),
            identifier: Type.Literal("ctxd"),
            version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+$" }),
            runtimeHint: Type.Literal("npx"),
            transport: Stdio,
            packageArguments: Type.Array(
              Type.Object({ type: Type.Literal("positional"), value: Type.String() }, strict),
            ),
            environmentVariables: Type.Array(
              Type.Object(
                {
                  name: Type.String({ pattern: "^CTXD_[A-Z_]+$" }),
                  description: Type.String(),
                  format: Type.Literal("filepath"),
                },
                strict,
              ),
            ),
          },
          strict,
        ),
        Type.Object(
          {
            registryType: Type.Literal("oci"),
            identifier: Type.String({ pattern: "^ghcr\\.io/[a-z0-9-]+/[a-z0-9._-]+:[0-9.]+$" }),
            runtimeHint: Type.Literal("docker"),
            transport: Stdio,
            runtimeArguments: Type.Array(
              Type.Object(
                { type: Type.Literal("named"), name: Type.String(), value: Type.String() },
                strict,
              ),
            ),
            packageArguments: Type.Array(
              Type.Object({ type: Type.Literal("positional"), value: Type.String() }, strict),
            ),
          },
          strict,
        ),
        Type.Object(
          {
            registryType: Type.Literal("mcpb"),
            identifier: Type.String({
              pattern: "^https://github\\.com/[^/]+/[^/]+/releases/download/v[0-9.]+/[^/]+\\.mcpb$",
            }),
            fileSha256: Type.String({ pattern: "^[a-f0-9]{64}$" }),
            transport: Stdio,
          },
          strict,
        ),
      ]),
    ),
  },
  strict,
);

test("server.json lists the npm package, the image, and the existing bundles with their checksums", async () => {
  const out = temporaryFolder();
  const bundle = join(out, bundleName("linux-arm64"));
  await Bun.write(bundle, "a bundle");
  const release = {
    version: "1.2.3",
    repository: "https://github.com/Some-Owner/ctxd",
    executables: {},
    out,
  };
  expect(await make(release)).toEqual([join(out, "server.json")]);
  const server = await Bun.file(join(out, "server.json")).json();
  expect([...Value.Errors(ServerJson, server)]).toEqual([]);
  expect(server.name).toBe(mcpName(release));
  expect(server.name).toBe("io.github.Some-Owner/ctxd");
  expect(server.packages).toMatchObject([
    { identifier: "ctxd", version: "1.2.3", packageArguments: [{ value: "mcp" }] },
    { identifier: "ghcr.io/some-owner/ctxd:1.2.3", packageArguments: [{ value: "mcp" }] },
    {
      identifier:
        "https://github.com/Some-Owner/ctxd/releases/download/v1.2.3/ctxd-linux-arm64.mcpb",
      fileSha256: await hashFile(bundle),
    },
  ]);
});
