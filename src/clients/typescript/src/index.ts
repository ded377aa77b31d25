export { type Client, type ClientOptions, createClient } from "./client.ts";
export { CtxdError, type ErrorDetail } from "./error.ts";
export type { ImportSource } from "./import.ts";
export type {
  AboutOptions,
  Calling,
  DeletionFilter,
  ExportOptions,
  ForgetOptions,
  FoundAbout,
  FoundMemory,
  HistoryOptions,
  ImportedMemory,
  ImportReport,
  ListOptions,
  Memory,
  MemoryChanges,
  NewMemory,
  Page,
  PageOptions,
  Receipt,
  SavedMemory,
  SearchOptions,
  Stats,
  TidyGroups,
  TidyOptions,
  TidyOutcome,
  TidyReport,
} from "./types.ts";
