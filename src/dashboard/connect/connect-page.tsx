/** @jsxRuntime automatic @jsxImportSource #pages */

import { APP_CLIENTS } from "../../connect/app-clients.ts";
import type { Client } from "../../connect/client.ts";
import { HOSTED_CLIENTS } from "../../connect/clients.ts";
import { CODE_EXAMPLES, type CodeExample } from "../../connect/code-examples.ts";
import { renderEntry } from "../../connect/format.ts";
import { TERMINAL_CLIENTS } from "../../connect/terminal-clients.ts";
import { Button, Copyable, CopyableText } from "../../pages/button.tsx";
import { Select } from "../../pages/field.tsx";
import { BoundFields, PostForm } from "../../pages/form.tsx";
import type { Child, Markup } from "../../pages/jsx-runtime.ts";
import { Notice } from "../../pages/layout.tsx";
import { Moment } from "../../pages/moment.tsx";
import { AGENT_EXPIRY, EXPIRY_CHOICES } from "../keys/keys-page.tsx";
import { HELP_PATH, PATHS } from "../navigation.tsx";
import { Page } from "../page.tsx";
import { type ConnectCommand, isLocal } from "../server-status.ts";
import type { Visit } from "../session.ts";

/** Shown in place of a key until one is created. */
const PLACEHOLDER = "ctx_YOUR_KEY";

type HostedClient = (typeof HOSTED_CLIENTS)[number];

/** An agent, app or program that can be connected. */
export type Target =
  | { kind: "client"; of: Client }
  | { kind: "hosted"; of: HostedClient }
  | { kind: "program"; of: CodeExample };

/** All targets, by where they run. */
const GROUPS: readonly { readonly name: string; readonly targets: readonly Target[] }[] = [
  { name: "In a terminal", targets: TERMINAL_CLIENTS.map((of) => ({ kind: "client", of })) },
  { name: "Editors and apps", targets: APP_CLIENTS.map((of) => ({ kind: "client", of })) },
  { name: "On the web", targets: HOSTED_CLIENTS.map((of) => ({ kind: "hosted", of })) },
  { name: "Your own programs", targets: CODE_EXAMPLES.map((of) => ({ kind: "program", of })) },
];

export const TARGETS: readonly Target[] = GROUPS.flatMap(({ targets }) => targets);

/** The address of the instructions for a target. @param made the id of a key that was just created */
export function connectPath(target: Target, made?: string): string {
  const parameters = new URLSearchParams({ to: target.of.id, ...(made && { made }) });
  return `${PATHS.connect}?${parameters}`;
}

/** The instructions for one agent or program: the exact text to paste, with this server's address and a key. */
export function ConnectPage({ visit, target, ...rest }: InstructionsProps) {
  return (
    <Page
      visit={visit}
      section="connect"
      title="Connect"
      lead="All agents share the same memories."
    >
      <div class="connect">
        <nav class="picker" aria-label="What to connect">
          {GROUPS.map(({ name, targets }) => (
            <>
              <h2>{name}</h2>
              <ul>
                {targets.map((each) => (
                  <li>
                    <a href={connectPath(each)} aria-current={each === target ? "page" : undefined}>
                      {/* Without the part in brackets. */ each.of.name.replace(/ \(.*/, "")}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          ))}
        </nav>
        <section aria-labelledby="target">
          <h2 id="target" class="connect-name">
            {target.of.name}
          </h2>
          <Instructions visit={visit} target={target} {...rest} />
        </section>
      </div>
    </Page>
  );
}

interface InstructionsProps {
  visit: Visit;
  target: Target;
  publicUrl: string;
  /** A key that was just created. It is shown only this once. */
  fresh: { key: string; expiresAt: Date | null } | null;
  /** The command that connects the target, if ctxd knows how. */
  connect: ConnectCommand;
  /** The same with capture and recall, if the target can do that. */
  withHooks: string;
}

function Instructions({ visit, target, publicUrl, fresh, connect, withHooks }: InstructionsProps) {
  const key = fresh?.key ?? PLACEHOLDER;
  const form = <KeyForm visit={visit} target={target} fresh={fresh} />;
  switch (target.kind) {
    case "hosted":
      return <HostedSteps client={target.of} publicUrl={publicUrl} />;
    case "client":
      return (
        <ClientSteps
          client={target.of}
          publicUrl={publicUrl}
          keyForm={form}
          apiKey={key}
          isMade={fresh !== null}
          connect={connect}
          withHooks={withHooks}
        />
      );
    case "program":
      return (
        <Method title="With a key">
          {form}
          <p>{target.of.instruction}</p>
          <CopyableText
            text={target.of.code(`${publicUrl}/api/memories`, key)}
            label={`the text for ${target.of.name}`}
          />
        </Method>
      );
  }
}

function KeyForm({ visit, target, fresh }: Pick<InstructionsProps, "visit" | "target" | "fresh">) {
  if (fresh !== null) {
    return (
      <p class="done" role="status">
        The text below has a new key, <strong>shown only once</strong>. It is among the{" "}
        <a href={PATHS.keys}>API keys</a>, and expires: <Moment at={fresh.expiresAt} exact={true} />
        .
      </p>
    );
  }
  return (
    <PostForm action={PATHS.connect} token={visit.token}>
      <input type="hidden" name="to" value={target.of.id} />
      <Select
        label="The key expires"
        name="expires"
        value={AGENT_EXPIRY}
        options={EXPIRY_CHOICES}
      />
      <BoundFields whose="the key" spaces={visit.spaces} />
      <Button kind="main">Create a key and insert it</Button>
    </PostForm>
  );
}

function ClientSteps({
  client,
  publicUrl,
  keyForm,
  apiKey,
  isMade,
  connect,
  withHooks,
}: Pick<InstructionsProps, "connect" | "withHooks"> & {
  client: Client;
  publicUrl: string;
  keyForm: Markup;
  apiKey: string;
  /** Whether the key was just created. Then only the way with a key is shown. */
  isMade: boolean;
}) {
  const url = `${publicUrl}/mcp`;
  const command = client.addCommand?.replace("URL", () => url);
  const withKey = (
    <Method title="By hand, with a key">
      {keyForm}
      <p>
        Add this to the existing settings in <FilePath file={client.file} />:
      </p>
      <CopyableText
        text={renderEntry(client, client.remote({ url, key: apiKey }))}
        label={`the settings for ${client.name}`}
      />
      <p>
        Then {client.reload}. No other user of that machine may read the file (
        <code>chmod 600</code>).
      </p>
    </Method>
  );
  if (isMade) return withKey;
  return (
    <>
      <Method title="Let ctxd do it">
        <p>
          {connect.isHere
            ? "Run this on this machine. It needs no key."
            : `Run this on the machine where ${client.name} runs.`}{" "}
          It shows its changes, asks first, and keeps a copy of the old settings.
        </p>
        <Copyable text={connect.command} label="the command of ctxd" />
        {(client.hooks ?? client.plugin) && (
          <>
            <p>
              Or also save what is said, and begin each conversation with what is known (
              <a href={`${HELP_PATH}/capture`}>capture and recall</a>):
            </p>
            <Copyable text={withHooks} label="the command with capture and recall" />
          </>
        )}
        <p>
          Then {client.reload}
          {!connect.isHere && `, and ${client.signIn}`}.
        </p>
      </Method>
      {withKey}
      <details class="connect-method">
        <summary>By hand, signing in instead of using a key</summary>
        {command && (
          <>
            <p>
              Run this in a terminal, {client.reload}, and {client.signIn}:
            </p>
            <Copyable text={command} label={`the command for ${client.name}`} />
            <p>Or change its settings by hand:</p>
          </>
        )}
        <CopyableText
          text={renderEntry(client, client.remote({ url, key: null }))}
          label={`the settings for ${client.name} without a key`}
        />
        <p>
          Put this into the same file instead, {client.reload}, and {client.signIn}. The app is then
          among the <a href={PATHS.agents}>Agents</a>.
        </p>
      </details>
    </>
  );
}

/** The path of a settings file, on each operating system where it differs. */
function FilePath({ file: { linux, macos, windows } }: Pick<Client, "file">) {
  return (
    <>
      <code>{linux}</code>
      {Object.entries({ macOS: macos, Windows: windows }).map(
        ([system, path]) =>
          path !== linux && (
            <>
              {` (on ${system} `}
              <code>{path}</code>)
            </>
          ),
      )}
    </>
  );
}

function HostedSteps({ client, publicUrl }: { client: HostedClient; publicUrl: string }) {
  const url = `${publicUrl}/mcp`;
  const isReachable = publicUrl.startsWith("https:") && !isLocal(publicUrl);
  return (
    <Method title="In its settings">
      {!isReachable && (
        <Notice>
          {client.name} connects over the internet and needs a public address that begins with
          https. The address of this server is {publicUrl}. Set CTXD_PUBLIC_URL to its public
          address.
        </Notice>
      )}
      <ol>
        {client.steps(url).map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <CopyableText text={url} label="the address" />
    </Method>
  );
}

function Method({ title, children }: { title: string; children?: Child }) {
  return (
    <div class="connect-method">
      <h3>{title}</h3>
      {children}
    </div>
  );
}
