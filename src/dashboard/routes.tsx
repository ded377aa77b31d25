/** @jsxRuntime automatic @jsxImportSource #pages */
import { Elysia } from "elysia";
import { wholeAccount } from "../keys/reach.ts";
import { createAskForProof } from "../sign-in/second-step/proof-routes.tsx";
import { addAccountPage, addOwnAccessPage } from "./account/account-routes.tsx";
import { addAuthenticatorPages, addPasskeyPages } from "./account/factor-routes.tsx";
import { addActivityPage } from "./activity/activity-routes.tsx";
import { addAdminPages } from "./admin/admin-routes.tsx";
import { addBackupsPage } from "./admin/backup-routes.tsx";
import { addHealthPage } from "./admin/health-routes.tsx";
import { addMemberPages } from "./admin/member-routes.tsx";
import { addQuotaForms } from "./admin/quota-routes.tsx";
import { addAdminSpaces } from "./admin/space-routes.tsx";
import { addAgentsPages, addWrittenPage } from "./agents/agents-routes.tsx";
import { addConnectPage } from "./connect/connect-routes.tsx";
import { addExportPages } from "./export/export-routes.tsx";
import { addForgetPages } from "./forget/forget-routes.tsx";
import { createGuard, type Guard } from "./guard.tsx";
import { createHelpRoutes } from "./help/help-routes.tsx";
import { addImportPage } from "./import/import-routes.tsx";
import { addKeyPages } from "./keys/key-routes.tsx";
import { addLiveStream, createLive } from "./live/live.ts";
import { addMapPage } from "./map/map-routes.tsx";
import { addMemoriesPage } from "./memories/memories-routes.tsx";
import { addSelectionForms } from "./memories/selection-routes.tsx";
import { addMemoryEditPage, addMemoryPages, addNewMemoryPage } from "./memory/memory-routes.tsx";
import { addOverviewPage } from "./overview/overview-routes.tsx";
import { createPages } from "./page-routes.tsx";
import { addPaletteLinks } from "./palette-routes.tsx";
import type { DashboardParts, Parts } from "./parts.ts";
import { createPlaces } from "./place.ts";
import { addProjectPages } from "./projects/project-routes.tsx";
import { addSecurityPages } from "./security/security-routes.tsx";
import { createShownOnce } from "./session.ts";
import { addMovePage } from "./spaces/move-routes.tsx";
import { addSpaceMembers, addSpacePages } from "./spaces/space-routes.tsx";
import { addSpaceChoice, addSpacesPage } from "./spaces/spaces-routes.tsx";
import { addTidyPages } from "./tidy/tidy-routes.tsx";
import { addWelcomePages } from "./welcome/welcome-routes.tsx";

/** Each adds its pages to `parts.pages`: those of the memories that are the person's or a space's. */
const PAGES_OF_MEMORIES: readonly ((parts: Parts) => void)[] = [
  addLiveStream,
  addPaletteLinks,
  addActivityPage,
  addOverviewPage,
  addExportPages,
  addImportPage,
  addMemoriesPage,
  addNewMemoryPage,
  addMemoryEditPage,
  addSelectionForms,
  addTidyPages,
  addForgetPages,
  addMemoryPages,
  addProjectPages,
  addMovePage,
  addMapPage,
];

/** The same for the pages that are of the person, whatever space is chosen. */
const PAGES_OF_PERSON: typeof PAGES_OF_MEMORIES = [
  addWelcomePages,
  addSpaceChoice,
  addSpacesPage,
  addSpacePages,
  addSpaceMembers,
  addAdminSpaces,
  addConnectPage,
  addKeyPages,
  addAgentsPages,
  addWrittenPage,
  addAccountPage,
  addPasskeyPages,
  addAuthenticatorPages,
  addOwnAccessPage,
  addMemberPages,
  addSecurityPages,
  addQuotaForms,
  addHealthPage,
  addBackupsPage,
  addAdminPages,
];

/** The routes of the dashboard and the help. */
export function createDashboardRoutes(services: DashboardParts) {
  const { accounts, memories } = services;
  const askForProof = createAskForProof(services);
  const places = createPlaces(services);
  const createGuardOf = (isOfMemories: boolean) =>
    createGuard({ ...services, isSetUp: accounts.isSetUp, askForProof, places, isOfMemories });
  const live = createLive({
    positions: {
      memories: (accountId) => memories.position(wholeAccount(accountId)),
      activity: services.activity.newest,
    },
  });
  services.drain.onBegin(live.close);
  const parts: Omit<Parts, "guard" | "pages"> = {
    ...services,
    places,
    grants: services.oauth.grants,
    live,
    shownOnce: createShownOnce(services),
  };
  const addAll = (adders: typeof PAGES_OF_MEMORIES, guard: Guard) => {
    const pages = createPages(guard);
    for (const add of adders) add({ ...parts, guard, pages });
    return pages.routes;
  };
  return new Elysia()
    .use(createHelpRoutes())
    .use(addAll(PAGES_OF_MEMORIES, createGuardOf(true)))
    .use(addAll(PAGES_OF_PERSON, createGuardOf(false)));
}
