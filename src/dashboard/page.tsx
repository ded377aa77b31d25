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

/** A page of the dashboard: the navigation, what was just done, and the content below its heading. */
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
  /** Where in the navigation the page belongs; null for nowhere. */
  section: Section | null;
  title: string;
  /** The ways to the other pages of the same part, above the heading. */
  above?: Child;
  /** What can be done on the page, beside its heading. */
  actions?: Child;
  /** What the page is for, in a sentence. */
  lead?: Child;
  /** What is wrong with what was just sent. */
  problem?: string | undefined;
  /** Scripts and stylesheets that only this page needs. */
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
            <div class="who">
              <p>
                <bdi>{account.email}</bdi>
              </p>
              <div class="who-ways">
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
