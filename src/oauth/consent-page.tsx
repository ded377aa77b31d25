/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Scope } from "../keys/scopes.ts";
import { FORM_TOKEN } from "../pages/cookies.ts";
import { BoundFields } from "../pages/form.tsx";
import type { Markup } from "../pages/jsx-runtime.ts";
import { Layout } from "../pages/layout.tsx";
import { SIGN_OUT_PATH } from "../sign-in/paths.ts";
import { type AuthorizationRequest, PARAMETERS } from "./authorization-request.ts";
import { describeRedirect, isDocumentAddress, isLoopback } from "./clients/client.ts";

const MEANING: Record<Scope, string> = {
  "memories:read": "Find and read all your memories",
  "memories:write": "Save, change and delete memories",
  "memories:add": "Save new memories, without changing or deleting any",
};

/** Fields of the consent form besides those of the request. */
export const CONSENT = {
  decision: "decision",
  allow: "allow",
  scope: "allowed_scope",
  /** Present when the page has said that the client could not be verified. */
  unverified: "unverified",
} as const;

/** The page on which a person allows or denies a client access to their memories. */
export function ConsentPage({
  request,
  parameters,
  email,
  token,
  action,
}: {
  request: AuthorizationRequest;
  /** The unchanged request. */
  parameters: URLSearchParams;
  /** The signed-in person. */
  email: string;
  token: string;
  /** Path of the endpoint. */
  action: string;
}): Markup {
  const { client, redirectUri, scopes } = request;
  const fields = PARAMETERS.flatMap((name) =>
    parameters.getAll(name).map((value) => <input type="hidden" name={name} value={value} />),
  );
  return (
    <Layout title="Allow access">
      <h1>
        Allow “<bdi>{client.name}</bdi>” to use your memories?
      </h1>
      <dl>
        {isDocumentAddress(client.id) && (
          <>
            <dt>{client.isUnverified ? "Says it is of" : "App of"}</dt>
            <dd>{new URL(client.id).host}</dd>
          </>
        )}
        <dt>Goes back to</dt>
        <dd>
          <strong>{describeRedirect(redirectUri)}</strong>
        </dd>
        <dt>Your account</dt>
        <dd>{email}</dd>
      </dl>
      {client.isUnverified && (
        <p class="notice">
          This server can't reach {new URL(client.id).host}, so it could not verify the name of the
          app.
        </p>
      )}
      {isLoopback(redirectUri) ? (
        <p class="notice">
          This is a program on your own computer. Allow it only if you have just started it
          yourself.
        </p>
      ) : (
        <p class="notice">
          The app has chosen its name itself. Allow it only if you know the address above and have
          just come from there.
        </p>
      )}
      <form method="post" action={action}>
        {fields}
        <input type="hidden" name={FORM_TOKEN} value={token} />
        {client.isUnverified && <input type="hidden" name={CONSENT.unverified} value="yes" />}
        <fieldset>
          <legend>It may then</legend>
          {scopes.map((scope) => (
            <label class="choice">
              <input type="checkbox" name={CONSENT.scope} value={scope} checked={true} />
              {MEANING[scope]}
            </label>
          ))}
        </fieldset>
        <BoundFields whose="the app" />
        <div class="actions">
          <button type="submit" class="main" name={CONSENT.decision} value={CONSENT.allow}>
            Allow
          </button>
          <button type="submit" name={CONSENT.decision} value="deny">
            Deny
          </button>
        </div>
      </form>
      <form method="post" action={SIGN_OUT_PATH} class="quiet">
        <input type="hidden" name={FORM_TOKEN} value={token} />
        <input type="hidden" name="next" value={`${action}?${parametersOf(parameters)}`} />
        Not you?{" "}
        <button type="submit" class="link">
          Use another account
        </button>
      </form>
    </Layout>
  );
}

/** A request as a query string, without the fields of the consent form. */
export function parametersOf(parameters: URLSearchParams): URLSearchParams {
  const kept = new URLSearchParams();
  for (const name of PARAMETERS) {
    for (const value of parameters.getAll(name)) kept.append(name, value);
  }
  return kept;
}
