/**
 * A local server with one release, in the form of GitHub's API. It counts what is asked for.
 * @param answer of the API in place of the usual one
 */
export function serveRelease(
  { version, notes = "" }: { version: string; notes?: string },
  answer?: () => Response,
) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch({ url }) {
      asked.push(new URL(url).pathname);
      if (answer) return answer();
      return Response.json({ tag_name: `v${version}`, body: notes, assets: [], draft: false });
    },
  });
  return {
    asked,
    address: `http://127.0.0.1:${server.port}/latest`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
