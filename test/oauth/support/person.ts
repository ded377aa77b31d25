import { type Form, parseForms } from "./forms.ts";

/** An answer as a browser shows it, after redirects within the server. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  /** Cookies that the answer and the redirects before it have set. */
  readonly cookies: readonly string[];
  readonly text: string;
  /** The address of a redirect to another site. */
  readonly location: string | null;
  readonly forms: readonly Form[];
}

export type Person = ReturnType<typeof createPerson>;

/** A browser with cookies that follows redirects within the server. */
export function createPerson(origin: string) {
  const jar = new Map<string, string>();

  const keepCookies = (headers: Headers) => {
    for (const cookie of headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (/max-age=0/i.test(cookie)) jar.delete(name);
      else jar.set(name, value);
    }
  };

  const send = async (
    url: string,
    init: RequestInit = {},
    before: readonly string[] = [],
  ): Promise<Page> => {
    const headers = new Headers(init.headers);
    if (!headers.has("cookie")) {
      headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "));
    }
    const response = await fetch(url, { ...init, headers, redirect: "manual" });
    keepCookies(response.headers);
    const location = response.headers.get("location");
    const target = location === null ? null : new URL(location, url).href;
    const cookies = [...before, ...response.headers.getSetCookie()];
    // A redirect with status 307 sends the form again.
    const next = response.status === 307 ? init : {};
    if (target?.startsWith(`${origin}/`)) return send(target, next, cookies);
    const text = await response.text();
    const { status } = response;
    const { headers: received } = response;
    return { url, status, headers: received, cookies, text, location, forms: parseForms(text) };
  };

  return {
    jar,
    visit: (url: string, headers: Record<string, string> = {}) =>
      send(new URL(url, origin).href, { headers }),

    /** Presses a button of a page's form, as a browser without JavaScript does. */
    submit: (
      page: Page,
      changes: Record<string, string | readonly string[] | null> = {},
      headers: Record<string, string> = {},
    ) => {
      const [form] = page.forms;
      if (!form) throw new Error(`no form on this page: ${page.text.slice(0, 500)}`);
      const body = new URLSearchParams();
      for (const [name, value] of form.fields) body.append(name, value);
      for (const [name, value] of Object.entries(changes)) {
        body.delete(name);
        for (const each of value === null ? [] : [value].flat()) body.append(name, each);
      }
      return send(new URL(form.action, page.url).href, {
        method: "POST",
        body,
        headers: { origin, "sec-fetch-site": "same-origin", ...headers },
      });
    },
  };
}

/** The page, with the form of this action moved to the front. */
export function formTo(page: Page, action: string): Page {
  const forms = page.forms.filter((form) => form.action === action);
  if (forms.length === 0) throw new Error(`no form to ${action} on this page: ${page.text}`);
  return { ...page, forms };
}
