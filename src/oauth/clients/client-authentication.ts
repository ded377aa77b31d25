import { parameterOf } from "../authorization-request.ts";
import type { OAuth } from "../oauth.ts";
import { OAuthError } from "../oauth-error.ts";
import { isDocumentAddress } from "./client.ts";
import { ASSERTION_TYPE, subjectOf } from "./client-assertion.ts";

type Clients = Pick<
  OAuth["clients"],
  "isAuthentic" | "isKnown" | "find" | "mustSign" | "verifyAssertion"
>;

/**
 * Authenticates the client at the token or revocation endpoint (RFC 6749, sections 2.3 and 3.2.1). A client with a
 * metadata document has no secret: it signs an assertion, or uses a code or token of its own. Documents that no person
 * here has allowed are not fetched: otherwise strangers could make the server send requests anywhere.
 * @throws OAuthError `invalid_client`, `invalid_request` or `temporarily_unavailable`
 */
export async function authenticateClient(
  request: Request,
  form: URLSearchParams,
  clients: Clients,
): Promise<string> {
  const assertion = parameterOf(form, "client_assertion");
  if (assertion !== null) return await authenticateByAssertion(request, form, assertion, clients);
  const header = request.headers.get("authorization");
  const fromBody = {
    id: parameterOf(form, "client_id"),
    secret: parameterOf(form, "client_secret"),
  };
  const fromHeader = header === null ? null : parseBasic(header);
  if (fromHeader && fromBody.secret !== null) {
    throw new OAuthError("invalid_request", "The client authenticates in two ways: use one.");
  }
  if (fromHeader && fromBody.id !== null && fromBody.id !== fromHeader.id) {
    throw new OAuthError("invalid_request", "There are two different client_ids.");
  }
  const { id, secret } = fromHeader ?? fromBody;
  if (id === null) throw new OAuthError("invalid_client", "client_id is missing.");
  if (
    isDocumentAddress(id) ? !(await hasToSign(id, clients)) : await clients.isAuthentic(id, secret)
  ) {
    return id;
  }
  throw new OAuthError(
    "invalid_client",
    "The client is unknown here, or its secret is wrong. Register again.",
  );
}

/** RFC 7521, section 4.2. */
async function authenticateByAssertion(
  request: Request,
  form: URLSearchParams,
  assertion: string,
  clients: Clients,
): Promise<string> {
  if (request.headers.has("authorization") || parameterOf(form, "client_secret") !== null) {
    throw new OAuthError("invalid_request", "The client authenticates in two ways: use one.");
  }
  if (parameterOf(form, "client_assertion_type") !== ASSERTION_TYPE) {
    throw new OAuthError("invalid_request", `client_assertion_type must be ${ASSERTION_TYPE}.`);
  }
  const id = parameterOf(form, "client_id") ?? (await subjectOf(assertion));
  const isKnown = id !== null && isDocumentAddress(id) && (await clients.isKnown(id));
  const client = isKnown ? await clients.find(id) : null;
  if (!client) throw new OAuthError("invalid_client", "The client is unknown.");
  await clients.verifyAssertion(client, assertion);
  return client.id;
}

/**
 * Whether a client must sign, by its document. While the document is unreachable, its last version
 * applies: blocking it must not avoid the signature.
 */
async function hasToSign(id: string, clients: Clients): Promise<boolean> {
  if (!(await clients.isKnown(id))) return false;
  const client = await clients.find(id).catch(() => null);
  return client ? (client.keys?.required ?? false) : clients.mustSign(id);
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded before they are joined. */
function parseBasic(header: string): { id: string; secret: string | null } {
  const encoded = /^Basic +([\w+/=-]+) *$/i.exec(header)?.[1];
  try {
    const [id = "", secret = ""] = atob(encoded ?? "")
      .split(":", 2)
      .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
    if (id !== "") return { id, secret: secret === "" ? null : secret };
  } catch {
    // The error is the same as for a missing id.
  }
  throw new OAuthError("invalid_client", "The Authorization header is malformed: use Basic.");
}
