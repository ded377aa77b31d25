/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../pages/button.tsx";
import { Fragment, type Markup } from "../pages/jsx-runtime.ts";
import { WITH_PATH } from "./paths.ts";
import type { Provider } from "./provider.ts";

/** The ways to sign in through a provider, below a form that does it with a password. */
export function ProviderButtons({
  providers,
  parameters = {},
}: {
  providers: readonly Pick<Provider, "id" | "name">[];
  /** What the way there should be told. */
  parameters?: Record<string, string>;
}): Markup {
  if (providers.length === 0) return Fragment({});
  const query = new URLSearchParams(parameters).toString();
  return (
    <div class="providers">
      {providers.map(({ id, name }) => (
        <ButtonLink href={`${WITH_PATH}/${id}${query && `?${query}`}`}>
          Continue with {name}
        </ButtonLink>
      ))}
    </div>
  );
}
