import { expect, test } from "bun:test";
import { startSuite } from "../support/conformance.ts";
import { freePort } from "../support/free-port.ts";
import { startOAuthServer } from "./support/oauth-server.ts";

test("the conformance suite's authorization scenarios pass", async () => {
  await using server = await startOAuthServer();
  const port = freePort();
  const { person } = await server.signedIn();
  const { client_id: clientId } = await server.register({
    redirect_uris: [`http://127.0.0.1:${port}/callback`],
  });
  const options = ["--client-id", clientId, "--resource", `${server.origin}/mcp`, "-p", `${port}`];
  const suite = startSuite("authorization", "--url", server.origin, ...options);
  let output = "";
  let isAllowed = false;
  const decoder = new TextDecoder();
  for await (const chunk of suite.stdout) {
    output += decoder.decode(chunk, { stream: true });
    const [, url] = /^(http\S+\/authorize\?\S+)\n/m.exec(output) ?? [];
    if (url === undefined || isAllowed) continue;
    isAllowed = true;
    const answer = await person.submit(await person.visit(url), { decision: "allow" });
    await fetch(answer.location ?? "");
  }
  expect(output).toContain("Total: 3 passed, 0 failed");
});
