/** @jsxRuntime automatic @jsxImportSource #pages */
import { description } from "../../package.json" with { type: "json" };
import { FAVICON, SCRIPT, STYLES } from "./assets.ts";
import type { Child } from "./jsx-runtime.ts";
import { type Asset, LATIN } from "./styles.ts";
import { THEME_STYLE_PATH } from "./theme.tsx";

/** The HTML document of every page. It works without scripts and loads nothing from other hosts. */
export function Document({
  title,
  kind,
  assets = [],
  children,
}: {
  title: string;
  /**
   * `alone`: a card with a single task. `app`: a page with the navigation. `help`: a help page. Only `app` has scripts
   * besides `assets`.
   */
  kind: "alone" | "app" | "help";
  /** Additional scripts and stylesheets of this page, in this order. */
  assets?: readonly Asset[];
  children?: Child;
}) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content={description} />
        <title>{`${title} · ctxd`}</title>
        <link rel="icon" type="image/svg+xml" href={FAVICON.path} />
        <link rel="preload" as="font" type={LATIN.type} crossorigin="" href={LATIN.path} />
        <link rel="stylesheet" href={STYLES.path} />
        <link rel="stylesheet" href={THEME_STYLE_PATH} />
        {kind === "app" && <script src={SCRIPT.path} defer={true} />}
        {assets.map(({ path }) =>
          path.endsWith(".css") ? (
            <link rel="stylesheet" href={path} />
          ) : (
            <script src={path} defer={true} />
          ),
        )}
      </head>
      <body class={kind}>{children}</body>
    </html>
  );
}

/** A page without navigation, such as sign-in: a card in the middle. */
export function Layout({
  title,
  heading = title,
  assets = [],
  children,
}: {
  title: string;
  /** By default the title. */
  heading?: Child;
  /** Scripts of this page; see `pageResponse`. */
  assets?: readonly Asset[];
  children?: Child;
}) {
  return (
    <Document title={title} kind="alone" assets={assets}>
      <main>
        <p class="brand">ctxd</p>
        <h1>{heading}</h1>
        {children}
      </main>
    </Document>
  );
}

/** A page with a message and at most one link. */
export function MessagePage({
  title,
  message,
  link,
}: {
  title: string;
  message: string;
  link?: { href: string; label: string } | undefined;
}) {
  return (
    <Layout title={title}>
      <p>{message}</p>
      {link && (
        <p>
          <a href={link.href} rel="noreferrer">
            {link.label}
          </a>
        </p>
      )}
    </Layout>
  );
}

/** An error message, which screen readers announce. */
export function Problem({ children }: { children?: Child }) {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}

/** A success message, which screen readers announce. */
export function Done({ children }: { children?: Child }) {
  return (
    <p class="done" role="status">
      {children}
    </p>
  );
}

/** A hint to read before continuing. */
export function Notice({ children }: { children?: Child }) {
  return <p class="notice">{children}</p>;
}

/** Shown in place of an empty list, with links to its first entry. */
export function EmptyState({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
