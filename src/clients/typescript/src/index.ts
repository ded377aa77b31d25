export { type Client, type ClientOptions, createClient } from "./client.ts";
export { CtxdError, type ErrorDetail } from "./error.ts";
export type { ImportSource } from "./import.ts";
export type {
  Calling,
  DeletionFilter,
  ExportOptions,
  FoundMemory,
  ImportedMemory,
  ImportReport,
  ListOptions,
  Memory,
  MemoryChanges,
  NewMemory,
  Page,
  PageOptions,
  SavedMemory,
  SearchOptions,
  Stats,
  TidyGroups,
  TidyOptions,
  TidyOutcome,
  TidyReport,
} from "./types.ts";
