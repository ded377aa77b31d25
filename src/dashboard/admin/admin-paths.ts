import { PATHS } from "../navigation.tsx";

/** The owner's pages, besides the page of accounts. */
export const ACCOUNTS_PATH = `${PATHS.admin}/accounts`;
export const INVITATIONS_PATH = `${PATHS.admin}/invitations`;
export const BACKUPS_PATH = `${PATHS.admin}/backups`;
export const HEALTH_PATH = `${PATHS.admin}/health`;
