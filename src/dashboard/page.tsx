/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Asset } from "../pages/asset.ts";
import type { Child, Markup } from "../pages/jsx-runtime.ts";
import { Document } from "../pages/layout.tsx";
import { Done, Problem } from "../pages/notice.tsx";
import { PostForm } from "../sign-in/form.tsx";
import { SIGN_OUT_PATH } from "../sign-in/paths.ts";
import { Frame } from "./frame.tsx";
import { HELP_PATH, Navigation, type Section } from "./navigation.tsx";
import { Palette, PaletteOpener } from "./palette.tsx";
import type { Visit } from "./visit.ts";

/** A page of the dashboard: the navigation, the heading, notices and the content. */
export function Page({
  visit,
  section,
  title,
  above,
  actions,
  lead,
  problem,
  assets,
  children,
}: {
  visit: Visit;
  /** The page's section in the navigation; null if it is in none. */
  section: Section | null;
  title: string;
  /** Tabs of related pages, above the heading. */
  above?: Child;
  /** Buttons beside the heading. */
  actions?: Child;
  /** One sentence that explains the page. */
  lead?: Child;
  /** The error message of the form that was sent. */
  problem?: string | undefined;
  /** Scripts and stylesheets of this page only. */
  assets?: readonly Asset[];
  children?: Child;
}): Markup {
  const { account, token, notice } = visit;
  return (
    <Document title={title} kind="app" assets={assets ?? []}>
      <Frame
        side={
          <>
            <PaletteOpener />
            <Navigation current={section} isOwner={account.role === "owner"} />
            <div class="person">
              <p>
                <bdi>{account.email}</bdi>
              </p>
              <div class="person-links">
                <a href={HELP_PATH}>Help</a>
                <PostForm action={SIGN_OUT_PATH} token={token}>
                  <button type="submit" class="link">
                    Sign out
                  </button>
                </PostForm>
              </div>
            </div>
          </>
        }
      >
        {above}
        <div class="page-head">
          <h1>{title}</h1>
          {actions !== undefined && <div class="actions">{actions}</div>}
        </div>
        {lead !== undefined && <p class="lead">{lead}</p>}
        {notice !== null && <Done>{notice}</Done>}
        {problem !== undefined && <Problem>{problem}</Problem>}
        {children}
      </Frame>
      <Palette isOwner={account.role === "owner"} />
    </Document>
  );
}
