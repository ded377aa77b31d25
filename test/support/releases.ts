/** What a release of a test has. */
export interface TestRelease {
  readonly version: string;
  readonly notes?: string;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** The text of SHA256SUMS; that of the files by default. */
  readonly checksums?: string;
}

/** A program that says its version, as a release has it. */
export function program(version: string): string {
  return `#!/bin/sh\necho ${version}\n`;
}

export function checksumsOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const lines = Object.entries(files).map(([name, content]) => {
    const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    return `${sha256}  ${name}\n`;
  });
  return lines.join("");
}

/**
 * A local server with one release, in the form of GitHub's API. It counts what is asked for.
 * @param answer of the API in place of the usual one
 */
export function serveRelease(
  { version, notes = "", files = {}, checksums = checksumsOf(files) }: TestRelease,
  answer?: () => Response,
) {
  const asked: string[] = [];
  const all: Record<string, string | Uint8Array> = { ...files, SHA256SUMS: checksums };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      const { pathname, origin } = new URL(url);
      asked.push(pathname);
      if (pathname === "/latest") {
        if (answer) return answer();
        const assets = Object.keys(all).map((name) => ({
          name,
          browser_download_url: `${origin}/files/${name}`,
        }));
        return Response.json({ tag_name: `v${version}`, body: notes, assets, draft: false });
      }
      const file = all[pathname.replace("/files/", "")];
      return file === undefined ? new Response(null, { status: 404 }) : new Response(file);
    },
  });
  return {
    asked,
    address: `http://127.0.0.1:${server.port}/latest`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
