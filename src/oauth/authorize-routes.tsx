/** @jsxRuntime automatic @jsxImportSource #pages */
import { AppError } from "../errors.ts";
import { readForm } from "../http/requests/form.ts";
import { seeOther } from "../http/responses.ts";
import { parseScopes } from "../keys/scopes.ts";
import { checkForm, FORM_TOKEN } from "../pages/cookies.ts";
import { boundOf, boundSpaceOf } from "../pages/form.tsx";
import { MessagePage } from "../pages/layout.tsx";
import { errorTitle, pageResponse } from "../pages/page-response.tsx";
import { PROOF_PATH, SIGN_IN_PATH } from "../sign-in/paths.ts";
import type { SignInParts } from "../sign-in/routes.tsx";
import type { SignedIn } from "../sign-in/sessions/visitor.ts";
import {
  type AuthorizationRequest,
  parameterOf,
  parseAuthorizationRequest,
  parseReplyTo,
  type ReplyTo,
} from "./authorization-request.ts";
import { describeRedirect, isLoopback, withParameters } from "./clients/client.ts";
import { CONSENT, ConsentPage, parametersOf } from "./consent-page.tsx";
import { ENDPOINTS, GUESSED_ENDPOINTS } from "./discovery.ts";
import type { OAuth } from "./oauth.ts";
import { OAuthError } from "./oauth-error.ts";

/**
 * Targets of the consent form. Browsers check the redirects of its answer against them, and further
 * redirects by the client's own page: any HTTPS address, this computer, and known apps.
 */
const FORM_ACTION = [
  "'self'",
  "https:",
  "http://localhost:*",
  "http://127.0.0.1:*",
  "cursor:",
  "vscode:",
  "vscode-insiders:",
];
/** The policy's grammar has no source for IPv6 addresses. */
const FORM_ACTION_IPV6 = [...FORM_ACTION, "http:"];

/** The authorization endpoint (RFC 6749, section 3.1): the consent page and its form. */
export function addConsentPages({
  config,
  pages,
  oauth,
  visitors,
  record,
  proof,
}: SignInParts & { oauth: Pick<OAuth, "clients" | "codes" | "grants"> }): void {
  const { publicUrl } = config;

  /** RFC 9207: every answer names the server that sent it. */
  const answer = ({ redirectUri, state }: ReplyTo, parameters: Record<string, string>) =>
    withParameters(redirectUri, { ...parameters, state, iss: publicUrl });

  /**
   * Sends an error to a client. Anyone can register a client and send people here. Without their consent, people are
   * redirected only to clients that they have allowed before, or to their own computer (RFC 9700, section 4.11.2).
   */
  const refuse = async (
    error: OAuthError,
    replyTo: ReplyTo,
    clientId: string,
    person: SignedIn,
  ) => {
    const location = answer(replyTo, { error: error.code, error_description: error.message });
    const isTrusted =
      isLoopback(replyTo.redirectUri) || (await oauth.grants.exists(person.account.id, clientId));
    if (isTrusted) return seeOther(location);
    const label = `Tell ${describeRedirect(replyTo.redirectUri)}`;
    const message = `The app's request can't be answered. ${error.message}`;
    const page = (
      <MessagePage title={errorTitle(400)} message={message} link={{ href: location, label }} />
    );
    return pageResponse(page, { status: 400 });
  };

  const withRequest = async (
    parameters: URLSearchParams,
    person: SignedIn,
    handle: (request: AuthorizationRequest) => Promise<Response>,
  ): Promise<Response> => {
    const client = await findClient(oauth, parameters);
    const replyTo = await forPerson(() => parseReplyTo(parameters, client));
    try {
      return await handle(parseAuthorizationRequest(parameters, { client, replyTo, publicUrl }));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return await refuse(error, replyTo, client.id, person);
    }
  };

  /** Redirects to a page that returns here with the same request. */
  const comingBack = (by: string, path: string, parameters: URLSearchParams) =>
    seeOther(`${by}?${new URLSearchParams({ next: `${path}?${parameters}` })}`);

  const show = async (request: Request, path: string) => {
    const parameters = new URL(request.url).searchParams;
    const person = await visitors.find(request);
    // This check comes first: strangers must not learn about clients or make the server fetch documents.
    if (!person) return comingBack(SIGN_IN_PATH, path, parameters);
    // An app's access lasts longer than the session.
    if (!(await proof.isFresh(person))) return comingBack(PROOF_PATH, path, parameters);
    return withRequest(parameters, person, async (wanted) => {
      await oauth.clients.markAsked(wanted.client.id);
      return pageResponse(
        <ConsentPage
          request={wanted}
          parameters={parameters}
          email={person.account.email}
          spaces={person.spaces}
          token={person.token}
          action={path}
        />,
        { formAction: wanted.redirectUri.includes("[") ? FORM_ACTION_IPV6 : FORM_ACTION },
      );
    });
  };

  const decide = async (request: Request, path: string) => {
    const form = await readForm(request);
    const person = await visitors.find(request);
    if (!person) return comingBack(SIGN_IN_PATH, path, parametersOf(form));
    checkForm(request, { token: form.get(FORM_TOKEN), cookie: person.session, publicUrl });
    if (!(await proof.isFresh(person))) return comingBack(PROOF_PATH, path, parametersOf(form));
    return withRequest(form, person, async (wanted) => {
      // Reading the client's document may be slow. A person who was signed out in the meantime gives no consent.
      if (!(await visitors.find(request)))
        return comingBack(SIGN_IN_PATH, path, parametersOf(form));
      const allowed = parseScopes(form.getAll(CONSENT.scope).join(" "));
      // A manipulated form can't grant more scopes than were requested.
      const scopes = wanted.scopes.filter((scope) => allowed.includes(scope));
      if (form.get(CONSENT.decision) !== CONSENT.allow || scopes.length === 0) {
        return seeOther(answer(wanted, { error: "access_denied" }));
      }
      // The person has seen the verified name of an app whose document is out of reach by now.
      if (wanted.client.isUnverified && !form.has(CONSENT.unverified)) {
        return seeOther(`${path}?${parametersOf(form)}`);
      }
      const accountId = person.account.id;
      const bound = boundOf(form);
      const spaceId = boundSpaceOf(form, person.spaces);
      const consent = { ...wanted, scopes, bound, spaceId };
      const code = await oauth.codes.create(accountId, consent);
      // Revoking all access ends the sessions first. A consent given in the meantime is withdrawn.
      if (!(await visitors.find(request))) {
        await oauth.codes.withdraw(code);
        return comingBack(SIGN_IN_PATH, path, parametersOf(form));
      }
      record(request, "app_allowed", {
        accountId,
        subjectId: wanted.client.id,
        subject: wanted.client.name,
      });
      return seeOther(answer(wanted, { code }));
    });
  };

  for (const path of [ENDPOINTS.authorize, GUESSED_ENDPOINTS.authorize]) {
    pages.get(path, (request) => show(request, path));
    pages.post(path, (request) => decide(request, path));
  }
}

/** Turns an error that the client must not receive into one for the person. */
async function forPerson<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OAuthError) throw new AppError("malformed_request", error.message);
    throw error;
  }
}

async function findClient({ clients }: Pick<OAuth, "clients">, parameters: URLSearchParams) {
  const client = await forPerson(() => {
    const clientId = parameterOf(parameters, "client_id");
    const redirectUri = parameterOf(parameters, "redirect_uri");
    return clientId === null ? null : clients.findAsking(clientId, redirectUri);
  });
  if (client) return client;
  throw new AppError(
    "malformed_request",
    "This server does not know the app, or has forgotten it. Remove this server from the app and add it again.",
  );
}
