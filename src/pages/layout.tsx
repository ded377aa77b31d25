/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Child, Markup } from "./jsx-runtime.ts";
import { STYLES } from "./styles.ts";

/** The frame of every page. Works without a script, and asks no other host for anything. */
export function Layout({ title, children }: { title: string; children?: Child }): Markup {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · ctxd`}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href={STYLES.path} />
      </head>
      <body>
        <main>
          <p class="brand">ctxd</p>
          {children}
        </main>
      </body>
    </html>
  );
}

/** A page that has one thing to say, and at the most one way to go on. */
export function MessagePage({
  title,
  message,
  link,
}: {
  title: string;
  message: string;
  link?: { href: string; label: string } | undefined;
}): Markup {
  return (
    <Layout title={title}>
      <h1>{title}</h1>
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

/** What is wrong with what was just sent, where a screen reader announces it. */
export function Problem({ children }: { children?: Child }): Markup {
  return (
    <p class="problem" role="alert">
      {children}
    </p>
  );
}
