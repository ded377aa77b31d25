import { createAsk, NoAnswer } from "../ask.ts";
import type { Finding } from "../finding.ts";
import { PROFILES, playClient } from "./clients.ts";
import { checkAddress, checkConnection } from "./connection.ts";
import { checkClocks, checkHealth, checkKey } from "./server.ts";
import { checkAuthorization, checkChallenge, checkDocuments, checkEndpoints } from "./sign-in.ts";

/**
 * Looks at a server as agents elsewhere meet it, one finding after the other, and takes the way of
 * well-known ones up to the sign-in. What can't be so after a finding is not looked at.
 * @param key an API key to try, if any
 */
export async function* examineServer({
  url,
  key,
  clock,
}: {
  url: URL;
  key: string | null;
  clock: () => number;
}): AsyncGenerator<Finding> {
  const { origin } = url;
  const ask = createAsk(origin);
  const { isPublic, ...address } = await checkAddress(url);
  yield address;
  const { answer, ...connection } = await checkConnection(ask, url, clock());
  yield connection;
  if (answer === null) return;
  const health = checkHealth(answer);
  yield health;
  if (answer.status !== 200 || health.state === "problem") return;
  yield checkClocks(answer, clock());
  try {
    yield* checkDocuments(ask, origin);
    yield await checkChallenge(ask, origin);
    yield await checkAuthorization(ask);
    yield await checkEndpoints(ask);
    // What is said of an address without encryption is said: no key goes there.
    if (key !== null && address.state !== "problem") yield await checkKey(ask, key);
    for (const profile of PROFILES) yield await playClient(profile, { ask, origin, isPublic });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    yield {
      check: "connection",
      state: "problem",
      message: `it answered, and then no more (${error.code}): look at the logs of server and proxy.`,
    };
  }
}
