import type { StoreParts } from "../db/database.ts";
import { createEphemeral, type Ephemeral } from "../db/ephemeral.ts";
import { type Client, isDocumentAddress, unverifiedClient } from "./clients/client.ts";
import { createVerifyAssertion } from "./clients/client-assertion.ts";
import { createClientDocuments, createClients } from "./clients/clients.ts";
import { createDocumentFetcher, type FetchDocument } from "./clients/document-fetcher.ts";
import { createCodes } from "./codes.ts";
import { ENDPOINTS, GUESSED_ENDPOINTS } from "./discovery.ts";
import { createGrants } from "./grants.ts";
import { OAuthError, resourceOf } from "./oauth-error.ts";
import { createTokens } from "./tokens.ts";

export type OAuth = ReturnType<typeof createOAuth>;

/**
 * The stores and checks of the authorization server.
 * @param fetchDocument fetches clients' metadata documents
 */
export function createOAuth({
  db,
  clock,
  publicUrl,
  ephemeral = createEphemeral({ db, clock }),
  fetchDocument = createDocumentFetcher(),
}: StoreParts & {
  publicUrl: string;
  ephemeral?: Ephemeral;
  fetchDocument?: FetchDocument | undefined;
}) {
  const registered = createClients({ db, clock });
  const documents = createClientDocuments({ fetchDocument, clock });
  const grants = createGrants({ db, clock });
  const audiences = [publicUrl, publicUrl + ENDPOINTS.token, publicUrl + GUESSED_ENDPOINTS.token];

  const find = async (id: string): Promise<Client | null> => {
    if (!isDocumentAddress(id)) return await registered.find(id);
    const client = await documents.find(id);
    await grants.follow(client);
    return client;
  };

  return {
    clients: {
      ...registered,
      /**
       * The client with an id: a registered one, or one with a metadata document.
       * @throws OAuthError `invalid_client` for a bad document, `temporarily_unavailable` for one out of reach
       */
      find,
      /**
       * The client that asks for an answer at an address. While its document is out of reach, it can be an unverified
       * program on the person's computer, unless it is known to sign.
       * @throws OAuthError as `find`
       */
      async findAsking(id: string, redirectUri: string | null): Promise<Client | null> {
        try {
          return await find(id);
        } catch (error) {
          const isUnreachable =
            error instanceof OAuthError && error.code === "temporarily_unavailable";
          const client = isUnreachable ? unverifiedClient(id, redirectUri) : null;
          if (!client || (await grants.mustSign(id))) throw error;
          return client;
        }
      },
      isKnown: grants.isKnown,
      mustSign: grants.mustSign,
      /** Whether apps may use a metadata document instead of registering. */
      readsDocuments: documents.areReachable,
      verifyAssertion: createVerifyAssertion({ fetchDocument, audiences, ephemeral, clock }),
    },
    grants,
    codes: createCodes({ db, grants, clock }),
    tokens: createTokens({ db, grants, resource: resourceOf(publicUrl), clock }),
  };
}
