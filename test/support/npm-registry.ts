import { basename } from "node:path";

/** Serves packages as the npm registry does, on this machine: as much of it as an installation asks for. */
export async function serveRegistry(tarballs: readonly string[]) {
  const packages = new Map(
    await Promise.all(
      tarballs.map(async (path) => {
        const fields: { name: string; version: string } = JSON.parse(
          Bun.spawnSync(["tar", "-xzOf", path, "package/package.json"]).stdout.toString(),
        );
        return [fields.name, { ...fields, path }] as const;
      }),
    ),
  );
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { origin, pathname } = new URL(request.url);
      const name = decodeURIComponent(pathname.slice(1)).split("/-/")[0] ?? "";
      asked.push(decodeURIComponent(pathname));
      const found = packages.get(name);
      if (!found) return new Response("{}", { status: 404 });
      const { path, ...fields } = found;
      if (pathname.endsWith(".tgz")) return new Response(Bun.file(path));
      const hash = new Bun.CryptoHasher("sha512").update(await Bun.file(path).bytes());
      const dist = {
        tarball: `${origin}/${name}/-/${basename(path)}`,
        integrity: `sha512-${hash.digest("base64")}`,
      };
      return Response.json({
        name,
        "dist-tags": { latest: fields.version },
        versions: { [fields.version]: { ...fields, dist } },
      });
    },
  });
  return {
    url: `${server.url}`,
    /** The paths that were asked for. */
    asked,
    packages,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
