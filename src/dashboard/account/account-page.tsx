/** @jsxRuntime automatic @jsxImportSource #pages */
import { Button, ButtonLink } from "../../pages/button.tsx";
import { linkProof } from "../../pages/cookies.ts";
import { PostForm } from "../../pages/form.tsx";
import { Moment } from "../../pages/moment.tsx";
import { listPage, Pager, Table } from "../../pages/table.tsx";
import { ThemeForm, type themeOf } from "../../pages/theme.tsx";
import { PasswordField } from "../../sign-in/forms.tsx";
import { WITH_PATH } from "../../sign-in/paths.ts";
import type { SessionRecord } from "../../sign-in/sessions/sessions.ts";
import { AccountTabs, PATHS } from "../navigation.tsx";
import { Fact, Page, Setting, TimeFact } from "../page.tsx";
import type { Visit } from "../session.ts";
import { FactorsSection, type OwnFactors } from "./factor-pages.tsx";

/** Browsers and systems by their mark in a `User-Agent`. The first match counts. */
const BROWSERS = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chrome", /\b(?:Chrome|CriOS|HeadlessChrome)\//],
  ["Safari", /\bSafari\//],
  ["curl", /^curl\//],
] as const;
const SYSTEMS = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
] as const;

/** The common name of a browser and its system, from its `User-Agent`. */
export function browserName(userAgent: string): string {
  const find = (known: readonly (readonly [string, RegExp])[]) =>
    known.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const browser = find(BROWSERS) ?? "Unknown browser";
  const system = find(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}

export const PASSWORD_PATH = `${PATHS.account}/password`;
export const PROVIDERS_PATH = `${PATHS.account}/providers`;
export const SESSIONS_PATH = `${PATHS.account}/sessions`;

interface AccountProps {
  visit: Visit;
  /** Whether the account has a password. Accounts made through a provider may have none. */
  hasPassword: boolean;
  /** Whether this server allows passwords. */
  passwords: boolean;
  factors: OwnFactors;
  /** The sign-in providers, and whether the account is connected to them. */
  providers: readonly { id: string; name: string; isLinked: boolean }[];
  sessions: readonly SessionRecord[];
  /** The id of the session that requests the page. */
  current: string;
  theme: ReturnType<typeof themeOf>;
  problem?: string;
}

/** The page of a person's own account: identity, password, second factors and sessions. */
export function AccountPage({
  visit,
  hasPassword,
  passwords,
  factors,
  providers,
  sessions,
  current,
  theme,
  problem,
}: AccountProps) {
  const { account, token } = visit;
  return (
    <Page
      visit={visit}
      section="account"
      title="Account"
      above={<AccountTabs current={PATHS.account} />}
      problem={problem}
    >
      <Setting id="you" title="You">
        <dl>
          <Fact name="E-mail address">
            <bdi>{account.email}</bdi>
          </Fact>
          <Fact name="Role">{account.role === "owner" ? "Owner of this server" : "Member"}</Fact>
          <TimeFact name="Created" at={account.createdAt} />
        </dl>
      </Setting>
      {passwords && <PasswordForm visit={visit} hasPassword={hasPassword} />}
      <FactorsSection token={token} hasPassword={hasPassword} {...factors} />
      {providers.length > 0 && <ProviderLinks token={token} providers={providers} />}
      <Sessions visit={visit} sessions={sessions} current={current} />
      <Setting id="theme" title="Theme" about="The colours of all pages in this browser.">
        <ThemeForm token={token} current={theme} />
      </Setting>
      <Setting
        id="revoke"
        title="If something was stolen"
        about="Revoke all API keys, disconnect all apps and sign out all browsers at once."
      >
        <ButtonLink href={`${PATHS.account}/revoke`} kind="danger" asks={true}>
          Revoke all access
        </ButtonLink>
      </Setting>
    </Page>
  );
}

function PasswordForm({ visit, hasPassword }: Pick<AccountProps, "visit" | "hasPassword">) {
  return (
    <Setting
      id="password"
      title={hasPassword ? "Change the password" : "Set a password"}
      about="This signs you out everywhere else. API keys and connected apps keep working."
    >
      <PostForm action={PASSWORD_PATH} token={visit.token}>
        <input type="hidden" name="username" autocomplete="username" value={visit.account.email} />
        {hasPassword && <PasswordField label="Current password" name="current" />}
        <PasswordField label="New password" name="next" isNew={true} />
        <Button>{hasPassword ? "Change password" : "Set password"}</Button>
      </PostForm>
    </Setting>
  );
}

function ProviderLinks({ token, providers }: Pick<AccountProps, "providers"> & { token: string }) {
  return (
    <Setting id="ways" title="Sign in through">
      {providers.map(({ id, name, isLinked }) =>
        isLinked ? (
          <PostForm action={`${PROVIDERS_PATH}/${id}/disconnect`} token={token} class="setting-row">
            <span>{name}</span> <Button>Disconnect {name}</Button>
          </PostForm>
        ) : (
          <p class="setting-row">
            <span>{name}</span>{" "}
            <ButtonLink href={`${WITH_PATH}/${id}?link=${linkProof(token)}`}>
              Connect {name}
            </ButtonLink>
          </p>
        ),
      )}
    </Setting>
  );
}

function Sessions({
  visit,
  sessions,
  current,
}: Pick<AccountProps, "visit" | "sessions" | "current">) {
  const { items, ...links } = listPage(sessions, PATHS.account, visit.url);
  return (
    <Setting
      id="sessions"
      title="Where you are signed in"
      about="A browser stays signed in for 30 days, unless you sign out."
    >
      <Table
        caption="Browsers where you are signed in"
        rows={items}
        columns={[
          {
            title: "Browser",
            cell: ({ id, browser }) => (
              <>
                {browserName(browser)} {id === current && <span class="badge">this one</span>}
              </>
            ),
          },
          { title: "Signed in", cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: "Last used", cell: ({ lastUsedAt }) => <Moment at={lastUsedAt} /> },
        ]}
        actions={({ id, browser }) => (
          <PostForm action={`${SESSIONS_PATH}/${id}/revoke`} token={visit.token}>
            <Button>
              Sign out<span class="hidden-text"> {browserName(browser)}</span>
            </Button>
          </PostForm>
        )}
      />
      <Pager label="Pages of browsers" {...links} />
      {sessions.length > 1 && (
        <PostForm action={`${SESSIONS_PATH}/revoke-others`} token={visit.token}>
          <Button>Sign out everywhere else</Button>
        </PostForm>
      )}
    </Setting>
  );
}
