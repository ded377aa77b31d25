/** @jsxRuntime automatic @jsxImportSource #pages */
import { ButtonLink } from "../../pages/button.tsx";
import { Fragment, type Markup } from "../../pages/jsx-runtime.ts";
import { WITH_PATH } from "../paths.ts";
import type { Provider } from "./provider.ts";

/** The buttons of the providers, below the form for passwords. */
export function ProviderButtons({
  providers,
  parameters = {},
}: {
  providers: readonly Pick<Provider, "id" | "name">[];
  /** Parameters for the provider's path. */
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
