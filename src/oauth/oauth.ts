import type { Database } from "../db/database.ts";
import { createEphemeral, type Ephemeral } from "../db/ephemeral.ts";
import { type Client, isDocumentAddress } from "./clients/client.ts";
import { createVerifyAssertion } from "./clients/client-assertion.ts";
import { createClientDocuments, createClients } from "./clients/clients.ts";
import { createDocumentFetcher, type FetchDocument } from "./clients/document-fetcher.ts";
import { createCodes } from "./codes.ts";
import { ENDPOINTS, GUESSED_ENDPOINTS } from "./discovery.ts";
import { createGrants } from "./grants.ts";
import { resourceOf } from "./oauth-error.ts";
import { createTokens } from "./tokens.ts";

export type OAuth = ReturnType<typeof createOAuth>;

/**
 * The stores and checks of the authorization server. `clock` gives milliseconds since 1970.
 * @param fetchDocument fetches clients' metadata documents
 */
export function createOAuth({
  db,
  clock,
  publicUrl,
  ephemeral = createEphemeral({ db, clock }),
  fetchDocument = createDocumentFetcher(),
}: {
  db: Database;
  clock: () => number;
  publicUrl: string;
  ephemeral?: Ephemeral;
  fetchDocument?: FetchDocument | undefined;
}) {
  const registered = createClients({ db, clock });
  const documents = createClientDocuments({ fetchDocument, clock });
  const grants = createGrants({ db, clock });
  const audiences = [publicUrl, publicUrl + ENDPOINTS.token, publicUrl + GUESSED_ENDPOINTS.token];

  return {
    clients: {
      ...registered,
      /**
       * The client with an id: a registered one, or one with a metadata document.
       * @throws OAuthError `invalid_client` for a bad document
       */
      find: async (id: string): Promise<Client | null> =>
        isDocumentAddress(id) ? await documents.find(id) : await registered.find(id),
      isKnown: grants.isKnown,
      mustSign: grants.mustSign,
      rememberSigning: grants.rememberSigning,
      /** Whether apps may use a metadata document instead of registering. */
      readsDocuments: documents.areReachable,
      verifyAssertion: createVerifyAssertion({ fetchDocument, audiences, ephemeral, clock }),
    },
    grants,
    codes: createCodes({ db, grants, clock }),
    tokens: createTokens({ db, grants, resource: resourceOf(publicUrl), clock }),
  };
}
