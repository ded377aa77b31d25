import type { Providers as Settings } from "../../config/config.ts";
import { WITH_PATH } from "../paths.ts";
import { createGitHub, GITHUB, GITHUB_API } from "./github.ts";
import { createGoogle, GOOGLE } from "./google.ts";
import { createOpenId } from "./openid.ts";
import type { Provider } from "./provider.ts";

/**
 * The providers of the settings, in the order of their buttons.
 * @param options `githubAt`, `googleAt` and `timeoutMs` are for tests
 */
export function createProviders(
  { github, google, oidc }: Settings,
  {
    publicUrl,
    clock,
    githubAt = { site: GITHUB, api: GITHUB_API },
    googleAt = GOOGLE,
    timeoutMs,
  }: {
    publicUrl: string;
    clock: () => number;
    githubAt?: { site: string; api: string };
    googleAt?: typeof GOOGLE;
    timeoutMs?: number;
  },
): Provider[] {
  const common = (id: string) => ({
    redirectUri: `${publicUrl}${WITH_PATH}/${id}/callback`,
    clock,
    timeoutMs,
  });
  const providers: Provider[] = [];
  if (github) providers.push(createGitHub({ ...github, ...common("github") }, githubAt));
  if (google) providers.push(createGoogle({ ...google, ...common("google") }, googleAt));
  if (oidc) providers.push(createOpenId({ ...oidc, ...common("oidc"), id: "oidc" }));
  return providers;
}
