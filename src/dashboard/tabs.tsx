/** @jsxRuntime automatic @jsxImportSource #pages */
import type { Markup } from "../pages/jsx-runtime.ts";
import { BACKUPS_PATH, HEALTH_PATH } from "./admin/admin-paths.ts";
import { PATHS } from "./navigation.tsx";

/** A page of a part of the dashboard. */
type Tab = readonly [path: string, label: string];

const ADMIN: readonly Tab[] = [
  [PATHS.admin, "Accounts"],
  [`${PATHS.admin}/security`, "Security log"],
  [BACKUPS_PATH, "Backups"],
  [HEALTH_PATH, "Health"],
];

const ACCOUNT: readonly Tab[] = [
  [PATHS.account, "Sign-in"],
  [`${PATHS.account}/security`, "Security log"],
];

/** Links between the owner's pages. @param current the path of the page that is shown */
export function AdminTabs({ current }: { current: string }): Markup {
  return <Tabs label="Admin" tabs={ADMIN} current={current} />;
}

/** Links between the pages of a person's own account. */
export function AccountTabs({ current }: { current: string }): Markup {
  return <Tabs label="Account" tabs={ACCOUNT} current={current} />;
}

function Tabs({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: readonly Tab[];
  current: string;
}): Markup {
  return (
    <nav class="subnav" aria-label={label}>
      <ul>
        {tabs.map(([path, name]) => (
          <li>
            <a href={path} aria-current={path === current ? "page" : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
