/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Space } from "../accounts/space.ts";
import type { Scope } from "../keys/scopes.ts";
import { Button } from "../pages/button.tsx";
import { BoundFields, PostForm } from "../pages/form.tsx";
import { Layout, Notice } from "../pages/layout.tsx";
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
  spaces,
  token,
  action,
}: {
  request: AuthorizationRequest;
  /** The unchanged request. */
  parameters: URLSearchParams;
  /** The signed-in person. */
  email: string;
  /** The person's. */
  spaces: readonly Space[];
  token: string;
  /** Path of the endpoint. */
  action: string;
}) {
  const { client, redirectUri, scopes } = request;
  const fields = PARAMETERS.flatMap((name) =>
    parameters.getAll(name).map((value) => <input type="hidden" name={name} value={value} />),
  );
  return (
    <Layout
      title="Allow access"
      heading={["Allow “", <bdi>{client.name}</bdi>, "” to use your memories?"]}
    >
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
        <Notice>
          This server can't reach {new URL(client.id).host}, so it could not verify the name of the
          app.
        </Notice>
      )}
      <Notice>
        {isLoopback(redirectUri)
          ? "This is a program on your own computer. Allow it only if you have just started it yourself."
          : "The app has chosen its name itself. Allow it only if you know the address above and have just come from there."}
      </Notice>
      <PostForm action={action} token={token}>
        {fields}
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
        <BoundFields whose="the app" spaces={spaces} />
        <div class="actions">
          <Button kind="main" name={CONSENT.decision} value={CONSENT.allow}>
            Allow
          </Button>
          <button type="submit" name={CONSENT.decision} value="deny">
            Deny
          </button>
        </div>
      </PostForm>
      <PostForm action={SIGN_OUT_PATH} token={token} class="quiet">
        <input type="hidden" name="next" value={`${action}?${parametersOf(parameters)}`} />
        Not you? <Button kind="link">Use another account</Button>
      </PostForm>
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
