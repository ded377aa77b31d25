/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Cookies } from "./cookies.ts";
import { PostForm } from "./form.tsx";

/** The stylesheet with the colours that were chosen in a browser. It needs no script, so that no page flashes. */
export const THEME_STYLE_PATH = "/theme.css";
/** The path of the form that chooses them. */
export const THEME_PATH = "/account/theme";

const THEMES = { light: "Light theme", dark: "Dark theme", system: "Theme of the system" } as const;
type Theme = keyof typeof THEMES;
const NAMES = Object.keys(THEMES) as Theme[];

const YEAR_MS = 365 * 86_400_000;

/** The colours that were chosen in the browser of a request. */
export function themeOf(cookies: Pick<Cookies, "read">, request: Request): Theme {
  const chosen = cookies.read(request, "theme");
  return NAMES.find((name) => name === chosen) ?? "system";
}

/** The `Set-Cookie` header that chooses colours; null if they are unknown. */
export function themeCookie(cookies: Pick<Cookies, "set">, wanted: string | null): string | null {
  const theme = NAMES.find((name) => name === wanted);
  return theme ? cookies.set("theme", theme, YEAR_MS) : null;
}

/** The stylesheet for a theme. */
export function themeStyle(theme: Theme): string {
  return theme === "system" ? "" : `:root{color-scheme:${theme}}`;
}

/** Buttons that choose the colours of all pages in this browser. */
export function ThemeForm({ token, current }: { token: string; current?: Theme }) {
  return (
    <PostForm action={THEME_PATH} token={token} class="themes actions">
      {NAMES.map((name) => (
        <button
          type="submit"
          class="plain"
          name="theme"
          value={name}
          aria-pressed={current && String(name === current)}
        >
          {THEMES[name]}
        </button>
      ))}
    </PostForm>
  );
}
