import { single } from "./authorization-request.ts";
import { isDocumentAddress } from "./client.ts";
import type { Clients } from "./clients.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * Tells which client sent a request to the token or revocation endpoint (RFC 6749, sections 2.3 and
 * 3.2.1). A client of a metadata document has no secret: its code or token has to be its own.
 * @throws OAuthError `invalid_client` or `invalid_request`
 */
export function authenticateClient(
  request: Request,
  form: URLSearchParams,
  clients: Pick<Clients, "isAuthentic">,
): string {
  const header = request.headers.get("authorization");
  const fromBody = { id: single(form, "client_id"), secret: single(form, "client_secret") };
  const fromHeader = header === null ? null : parseBasic(header);
  if (fromHeader && fromBody.secret !== null) {
    throw new OAuthError("invalid_request", "The client authenticates in two ways: use one.");
  }
  if (fromHeader && fromBody.id !== null && fromBody.id !== fromHeader.id) {
    throw new OAuthError("invalid_request", "There are two different client_ids.");
  }
  const { id, secret } = fromHeader ?? fromBody;
  if (id === null) throw new OAuthError("invalid_client", "client_id is missing.");
  if (isDocumentAddress(id) || clients.isAuthentic(id, secret)) return id;
  throw new OAuthError(
    "invalid_client",
    "The client is not known here, or its secret is wrong. Register again.",
  );
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
    // As malformed as one without an id.
  }
  throw new OAuthError("invalid_client", "The Authorization header is malformed: use Basic.");
}
