/**
 * Runs the authorization scenarios of the protocol's own conformance suite, with a person who
 * allows what they are asked: a part of `bun run conformance`. It wants port 3000 for itself.
 */
import { startOAuthServer } from "./support/oauth-server.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const CALLBACK = "http://127.0.0.1:3000/callback";
const CHECKS = 3;

await using server = await startOAuthServer();
const { person } = await server.signedIn();
const { client_id: clientId } = await server.register({ redirect_uris: [CALLBACK] });

const options = ["--client-id", clientId, "--resource", `${server.origin}/mcp`, "-p", "3000"];
const child = Bun.spawn(
  [process.execPath, "x", "--bun", SUITE, "authorization", "--url", server.origin, ...options],
  { stdout: "pipe", stderr: "inherit" },
);
let output = "";
let isAllowed = false;
const decoder = new TextDecoder();
for await (const chunk of child.stdout) {
  output += decoder.decode(chunk, { stream: true });
  const [, url] = /^(http\S+\/authorize\?\S+)\n/m.exec(output) ?? [];
  if (url === undefined || isAllowed) continue;
  isAllowed = true;
  const answer = await person.submit(await person.visit(url), { decision: "allow" });
  await fetch(answer.location ?? "");
}
const [, passed, failed] = /Total: (\d+) passed, (\d+) failed/.exec(output) ?? [];
const isGood = Number(passed) >= CHECKS && failed === "0";
console.log(`${isGood ? "ok    " : "FAILED"} authorization ${passed}/${CHECKS}`);
process.exitCode = isGood ? 0 : 1;
