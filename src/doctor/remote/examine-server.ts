import { createAsk, NoAnswer } from "../ask.ts";
import type { Finding } from "../finding.ts";
import { PROFILES, tryClient } from "./clients.ts";
import { checkAddress, checkConnection } from "./connection.ts";
import { checkClocks, checkHealth, checkKey } from "./server.ts";
import { checkAuthorization, checkChallenge, checkDocuments, checkEndpoints } from "./sign-in.ts";

/**
 * Checks a server as agents on other machines use it, and follows the steps of well-known clients up to the
 * sign-in. Yields one finding for each check. A problem skips the checks that depend on it.
 * @param key an API key to check; null for none
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
    // No key is sent to an unencrypted address.
    if (key !== null && address.state !== "problem") yield await checkKey(ask, key);
    for (const profile of PROFILES) yield await tryClient(profile, { ask, origin, isPublic });
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    yield {
      check: "connection",
      state: "problem",
      message: `the server stopped answering (${error.code}): see the logs of the server and the proxy.`,
    };
  }
}
