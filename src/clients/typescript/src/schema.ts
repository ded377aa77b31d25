// Made from the server's document: CTXD_WRITE=1 bun test test/clients/schema.test.ts
export interface paths {
    "/api/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description Pass `next_cursor` as `cursor` to get the next page. It is null on the last one. Equally important memories are ordered newest first.
         */
        get: operations["listMemories"];
        put?: never;
        /**
         * Save a memory
         * @description When this is answered, the memory is on disk, and every search finds it. If a memory with exactly the same text exists in the same project, it is returned with status 200, and nothing is saved. With `supersedes`, the memory that was true before is kept as history, out of searches and lists. This needs `memories:write`, and is refused with 409 if another memory supersedes that one already. `similar=true` needs `memories:read`. Without the scope `memories:read` the answer has only `id`, `created_at` and `updated_at`.
         */
        post: operations["createMemory"];
        /**
         * Delete all memories that match a filter, permanently
         * @description Needs at least one filter. With `source`, one request deletes all that a misled agent or a lost key wrote.
         */
        delete: operations["deleteMemories"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find memories by meaning
         * @description Best first. Equal scores are ordered newest first, then by id.
         */
        get: operations["searchMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description Send its `ETag` as `If-Match` when you change the memory, to avoid lost updates.
         */
        get: operations["getMemory"];
        /**
         * Change a memory
         * @description Fields that are left out stay as they are. Without the scope `memories:read` the answer has only `id`, `created_at` and `updated_at`.
         */
        put: operations["updateMemory"];
        post?: never;
        /**
         * Delete a memory permanently
         * @description Within a minute no file contains it, except backups. The memory that it superseded is then superseded by the one that superseded it, or becomes current again.
         */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List a memory's history
         * @description The memory with those that it supersedes and that supersede it, newest first.
         */
        get: operations["getMemoryHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save up to 256 memories, all or none
         * @description Faster than one request each. A body has at most 8 MiB and 50,000 JSON values; an import may have any length. If one memory is invalid, none is saved. Duplicates are saved too, for example repeated turns of a conversation. Without the scope `memories:read` the answer has only `id`, `created_at` and `updated_at`.
         */
        post: operations["createMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move all memories that match a filter to a project
         * @description Needs at least one filter. A history is moved as a whole. Times do not change. If the request fails, some memories may have moved: send it again.
         */
        post: operations["moveMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/capture": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Save the turns of a conversation
         * @description Each turn becomes a memory that expires, with secrets masked and `source.via` = `capture`. Turns that exist already change nothing. In searches, captured turns rank below saved memories that match equally well.
         */
        post: operations["captureTurns"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall memories for a conversation
         * @description Returns the memories that matter for a prompt, or for the beginning of a conversation, as a text for an agent. It contains only memories above the score floor, and none twice in a conversation.
         */
        post: operations["recallContext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/tidy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List what could be tidied
         * @description Groups of memories that say the same, contradict each other, were never found, expire soon, contain secrets, come from revoked keys, or are alone in a project, each with a proposal. Memories are compared in the background, some time after they are saved. Captured turns are not compared.
         */
        get: operations["getTidyReport"];
        put?: never;
        /**
         * Apply proposals of a tidy report
         * @description Applies the proposed or another allowed `action` of each group, ten seconds later. Until then it can be undone. If one of the groups has changed, nothing is applied. Needs `memories:read` too.
         */
        post: operations["applyTidyProposals"];
        /** Undo what was applied, within ten seconds */
        delete: operations["undoTidying"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export all memories
         * @description One memory per line, oldest first. The export has the memories that existed at the request: memories that change meanwhile have their new state, deleted ones are left out. If the connection ends early, the export is incomplete. It ends when the key is revoked.
         */
        get: operations["exportMemories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import memories
         * @description One memory per line, as exported; only `content` is required. Ids and times are kept, except that lines of one session with the same time and without an id get times a millisecond apart, in their order. `source` becomes the importing credential. Secrets such as API keys are masked. A line whose id exists is written only if its `updated_at` is newer, so importing a file twice changes nothing. Invalid lines are skipped and reported. Without the scope `memories:read`, `dry_run` is refused, and all lines that change nothing count as `kept`. The body may have any length. Memories are saved while it is read, and stay if it breaks off.
         */
        post: operations["importMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/about": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find all memories about a person or a subject
         * @description Reads every memory, captured and superseded ones too: those that name it come first, the newest first, then those that may be about it.
         */
        get: operations["findMemoriesAbout"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/memories/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete memories permanently, with a receipt
         * @description Ids that no memory has are ignored. The receipt has nothing of their content. Needs `memories:read` too.
         */
        post: operations["forgetMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count memories
         * @description Counts by tag, agent, project and day, the size on disk, and how far memories have faded.
         */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Error: {
            error: {
                /** @example validation_failed */
                code: string;
                /** @description What is wrong and what to do. */
                message: string;
                details?: {
                    /**
                     * @description JSON pointer to the field.
                     * @example /content
                     */
                    path: string;
                    /** @example is required */
                    message: string;
                }[];
                /** @description With `internal`: the error's name in the server's log. */
                id?: string;
            };
        };
        Memory: {
            /**
             * @description `mem_` and a UUID in hex.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            id: string;
            /**
             * @description The memory's text. Not only white space.
             * @example The user prefers to be called Sam.
             */
            content: string;
            /**
             * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
             * @example [
             *       "work"
             *     ]
             */
            tags: string[];
            agent_id: string | null;
            session_id: string | null;
            project: string | null;
            /**
             * @description 0 to 1. The higher, the slower the memory's score decays with age.
             * @example 0.5
             */
            importance: number;
            /**
             * @description Whether the memory never fades.
             * @example false
             */
            pinned: boolean;
            supersedes: string | null;
            superseded_by: string | null;
            /**
             * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
             * @example {}
             */
            metadata: {
                [key: string]: unknown;
            };
            source: {
                /**
                 * @description How the text came to the server.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of the app's grant, or of the person's account.
                 * @example key_0197f2c4e0b47c3a9a1d5b8e2f60c711
                 */
                id: string;
            } | null;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            updated_at: string;
            expires_at: string | null;
            /**
             * @description With `as_of`: changed since then, and shown as it is now.
             * @constant
             */
            changed_since?: true;
            /** @description For members of a space: its name; `null` outside. */
            space?: string | null;
        };
        FoundMemory: {
            /**
             * @description `mem_` and a UUID in hex.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            id: string;
            /**
             * @description The memory's text. Not only white space.
             * @example The user prefers to be called Sam.
             */
            content: string;
            /**
             * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
             * @example [
             *       "work"
             *     ]
             */
            tags: string[];
            agent_id: string | null;
            session_id: string | null;
            project: string | null;
            /**
             * @description 0 to 1. The higher, the slower the memory's score decays with age.
             * @example 0.5
             */
            importance: number;
            /**
             * @description Whether the memory never fades.
             * @example false
             */
            pinned: boolean;
            supersedes: string | null;
            superseded_by: string | null;
            /**
             * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
             * @example {}
             */
            metadata: {
                [key: string]: unknown;
            };
            source: {
                /**
                 * @description How the text came to the server.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of the app's grant, or of the person's account.
                 * @example key_0197f2c4e0b47c3a9a1d5b8e2f60c711
                 */
                id: string;
            } | null;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            updated_at: string;
            expires_at: string | null;
            /**
             * @description With `as_of`: changed since then, and shown as it is now.
             * @constant
             */
            changed_since?: true;
            /** @description For members of a space: its name; `null` outside. */
            space?: string | null;
            /**
             * @description Approximately the probability that the memory answers the query, lowered by age. Comparable between queries and accounts.
             * @example 0.82
             */
            score: number;
            /** @description The matched passage: in the passage of the nearest meaning, the part with most of the query's words. A short `content` is returned whole. */
            matched: {
                /**
                 * @description At most 400 characters: whole sentences where they fit.
                 * @example The user prefers to be called Sam.
                 */
                text: string;
                /** @description Its first character in `content`, counted in Unicode code points from 0. */
                start: number;
                /** @description The first character after it in `content`. */
                end: number;
            };
            /**
             * @description Id of the newest found memory of the same fact, if it is another one.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            newer?: string;
            /**
             * @description Ids of older found memories of the same fact, the newest first. This one holds now.
             * @example [
             *       "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711"
             *     ]
             */
            replaces?: string[];
            /**
             * @description With `known=true`: ids of other found memories that say the same. They are no results of their own.
             * @example [
             *       "mem_0197f2c4e0b47c3a9a1d5b8e2f60c711"
             *     ]
             */
            alike?: string[];
            /** @description The parts of the score. All but `relevance`, `retention` and `decay` are log-odds: 0 counts neither for nor against the memory, and each 2.3 makes it ten times as likely that the memory answers the query. */
            explanation?: {
                /**
                 * @description The start value of every memory, before any signal counts.
                 * @example 1.2
                 */
                start: number;
                /**
                 * @description How near its meaning is to the query's, as a whole and word by word.
                 * @example 1.2
                 */
                meaning: number;
                /**
                 * @description How many of the query's words it has; rare words count more.
                 * @example 1.2
                 */
                words: number;
                /**
                 * @description The memories around it in its session: an answer often follows its question.
                 * @example 1.2
                 */
                session: number;
                /**
                 * @description The speaker, whether it is a question or a statement, and the names and numbers of the query.
                 * @example 1.2
                 */
                wording: number;
                /**
                 * @description Whether it is from the time that the query names, and whether it is the current version of a fact.
                 * @example 1.2
                 */
                time: number;
                /**
                 * @description Lower for long texts, of which many words don't answer the query.
                 * @example 1.2
                 */
                length: number;
                /**
                 * @description Whether any result answers the query, judged from all results. It makes scores of different queries comparable.
                 * @example 1.2
                 */
                question: number;
                /** @description The probability of the sum of these: 1 / (1 + e^−sum). */
                relevance: number;
                /** @description The share of the memory that remains at its age. */
                retention: number;
                /** @description The share of the score that depends on retention. */
                decay: number;
            };
        };
        ImportedMemory: {
            /**
             * @description As exported. The default follows from the line's content.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            id?: string;
            /**
             * @description The memory's text. Not only white space.
             * @example The user prefers to be called Sam.
             */
            content: string;
            /**
             * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
             * @default []
             * @example [
             *       "work"
             *     ]
             */
            tags?: string[];
            /** @description `null` clears it. */
            agent_id?: string | null;
            /** @description `null` clears it. */
            session_id?: string | null;
            project?: string | null;
            /**
             * @description 0 to 1. The higher, the slower the memory's score decays with age.
             * @default 0.5
             * @example 0.5
             */
            importance?: number;
            /**
             * @description Whether the memory never fades.
             * @example false
             */
            pinned?: boolean;
            supersedes?: string | null;
            /**
             * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
             * @default {}
             * @example {}
             */
            metadata?: {
                [key: string]: unknown;
            };
            expires_at?: string | null;
            /** @description As exported. It is also set by the `supersedes` of another line. */
            superseded_by?: string | null;
            /** @description As exported. Ignored: the importing credential is recorded. */
            source?: {
                /**
                 * @description How the text came to the server.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of the app's grant, or of the person's account.
                 * @example key_0197f2c4e0b47c3a9a1d5b8e2f60c711
                 */
                id: string;
            } | null;
            /**
             * Format: date-time
             * @description By default `updated_at`, or now.
             * @example 2026-11-21T07:00:00.000Z
             */
            created_at?: string;
            /**
             * Format: date-time
             * @description By default `created_at`.
             * @example 2026-11-21T07:00:00.000Z
             */
            updated_at?: string;
        };
        SavedMemory: {
            /**
             * @description `mem_` and a UUID in hex.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            id: string;
            /**
             * @description The memory's text. Not only white space.
             * @example The user prefers to be called Sam.
             */
            content: string;
            /**
             * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
             * @example [
             *       "work"
             *     ]
             */
            tags: string[];
            agent_id: string | null;
            session_id: string | null;
            project: string | null;
            /**
             * @description 0 to 1. The higher, the slower the memory's score decays with age.
             * @example 0.5
             */
            importance: number;
            /**
             * @description Whether the memory never fades.
             * @example false
             */
            pinned: boolean;
            supersedes: string | null;
            superseded_by: string | null;
            /**
             * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
             * @example {}
             */
            metadata: {
                [key: string]: unknown;
            };
            source: {
                /**
                 * @description How the text came to the server.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of the app's grant, or of the person's account.
                 * @example key_0197f2c4e0b47c3a9a1d5b8e2f60c711
                 */
                id: string;
            } | null;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            created_at: string;
            /**
             * Format: date-time
             * @description UTC.
             * @example 2026-11-21T07:00:00.000Z
             */
            updated_at: string;
            expires_at: string | null;
            /**
             * @description With `as_of`: changed since then, and shown as it is now.
             * @constant
             */
            changed_since?: true;
            /** @description For members of a space: its name; `null` outside. */
            space?: string | null;
            /** @description Present only if there are warnings. */
            warnings?: {
                /** @constant */
                code: "secret";
                /**
                 * @description JSON pointer to the field.
                 * @example /content
                 */
                path: string;
                /** @example Contains what looks like a secret: github-token. */
                message: string;
            }[];
            /** @description With `?similar=true`: at most 10 memories that say nearly the same, or that the saved one may have outdated. */
            similar?: {
                /** @description Id of the similar memory. */
                id: string;
                /** @description 1 for the same text. */
                score: number;
                /**
                 * @description `near`: it says nearly the same. `changed`: it says something else about the same subject, and may be outdated. `superseded`: it says the same, and was superseded by `superseded_by`.
                 * @enum {string}
                 */
                kind: "near" | "changed" | "superseded";
                /** @description Id of the memory that holds now, if the kind is `superseded`. */
                superseded_by?: string;
            }[];
        };
        Stats: {
            /** @description The number of all memories. */
            memories: number;
            /** @description Size on disk, with vectors, indexes and data that is still to be removed; `null` for a key that is bound to a project. */
            bytes: number | null;
            oldest: string | null;
            newest: string | null;
            /** @description The 100 most frequent tags. */
            tags: {
                tag: string;
                /** @description The number of memories. */
                memories: number;
            }[];
            /** @description The 100 most frequent agents; `null` is none. */
            agents: {
                agent_id: string | null;
                /** @description The number of memories. */
                memories: number;
            }[];
            /** @description The 1000 most frequent projects; `null` is none. */
            projects: {
                project: string | null;
                /** @description The number of memories. */
                memories: number;
                /**
                 * Format: date-time
                 * @description When one of them was last saved or changed.
                 */
                changed_at: string;
            }[];
            /** @description Days on which memories were created, oldest first; the last 3660. */
            days: {
                /**
                 * @description In UTC.
                 * @example 2026-11-21
                 */
                day: string;
                /** @description The number of memories. */
                memories: number;
            }[];
            /** @description How far memories have faded: means of memories of similar age and importance. Pinned memories never fade and are counted separately. */
            fading: {
                /** @description Since the last change. */
                age_days: number;
                /** @description 0 to 1. */
                importance: number;
                /** @description The mean retention at their age. */
                retention: number;
                /** @description The number of memories. */
                memories: number;
            }[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory must have one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether a memory must have one of `tags` (the default) or all. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none; only of this project with `project_only=true`. `*` means all projects. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project`: only memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, the app's grant or the account that wrote the memory. */
                source?: string;
                /** @description `true`: only memories that were captured from conversations. `false`: only others. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
                /** @description Whether superseded memories are included. */
                include_superseded?: "true" | "false";
                /** @description What was known at this moment; a date means its end in UTC. Memories that were superseded later are found, and those that were saved later are not. Ages and times in the query, such as last week, are those of that moment. Deleted and expired memories can't come back, and texts are as they are now. A moment in the future means now. */
                as_of?: string;
                /** @description The most memories to return. */
                limit?: number;
                /** @description The newest or the most important memories first, those that were found and recalled most often, or those that never were, the oldest first. */
                sort?: "newest" | "importance" | "most_found" | "never_found";
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: components["schemas"]["Memory"][];
                        /** @description The `cursor` of the next page; `null` on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createMemory: {
        parameters: {
            query?: {
                /** @description Whether the answer lists memories that say nearly the same, or that the new one may have outdated. */
                similar?: "true" | "false";
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: {
                /** @description A repeated request with the same key within 24 hours saves nothing and gets the same answer. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The memory's text. Not only white space.
                     * @example The user prefers to be called Sam.
                     */
                    content: string;
                    /**
                     * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
                     * @default []
                     * @example [
                     *       "work"
                     *     ]
                     */
                    tags?: string[];
                    /**
                     * @description The agent that the memory belongs to.
                     * @example planner
                     */
                    agent_id?: string;
                    /**
                     * @description The conversation that the memory comes from.
                     * @example s-42
                     */
                    session_id?: string;
                    project?: string | null;
                    /**
                     * @description 0 to 1. The higher, the slower the memory's score decays with age.
                     * @default 0.5
                     * @example 0.5
                     */
                    importance?: number;
                    /**
                     * @description Whether the memory never fades.
                     * @example false
                     */
                    pinned?: boolean;
                    supersedes?: string | null;
                    /**
                     * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
                     * @default {}
                     * @example {}
                     */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description A moment in the future. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The memory that has the same text. */
            200: {
                headers: {
                    /** @description Identifies this state of the memory, for `If-Match`. */
                    ETag?: string;
                    /** @description The memory's path. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedMemory"];
                };
            };
            /** @description Saved. */
            201: {
                headers: {
                    /** @description Identifies this state of the memory, for `If-Match`. */
                    ETag?: string;
                    /** @description The memory's path. */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedMemory"];
                };
            };
        };
    };
    deleteMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory must have one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether a memory must have one of `tags` (the default) or all. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Only memories of this project. */
                project?: string;
                /** @description `true` without `project`: memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, the app's grant or the account that wrote the memory. */
                source?: string;
                /** @description `true`: only memories that were captured from conversations. `false`: only others. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The number of deleted memories. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example 3 */
                        deleted: number;
                    };
                };
            };
        };
    };
    searchMemories: {
        parameters: {
            query: {
                /** @description What to look for, in natural language. If the query names a time, such as last week or in May 2023, memories of that time come first. */
                q: string;
                /** @description The most memories to return. */
                limit?: number;
                /** @description Comma-separated. A memory must have one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether a memory must have one of `tags` (the default) or all. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none; only of this project with `project_only=true`. `*` means all projects. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project`: only memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, the app's grant or the account that wrote the memory. */
                source?: string;
                /** @description `true`: only memories that were captured from conversations. `false`: only others. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
                /** @description Whether superseded memories are included. */
                include_superseded?: "true" | "false";
                /** @description What was known at this moment; a date means its end in UTC. Memories that were superseded later are found, and those that were saved later are not. Ages and times in the query, such as last week, are those of that moment. Deleted and expired memories can't come back, and texts are as they are now. A moment in the future means now. */
                as_of?: string;
                /** @description Memories with a lower `score` are left out. Decay is part of the score. */
                min_score?: number;
                /** @description Compare meaning and words, only meaning, or only words. */
                mode?: "hybrid" | "semantic" | "keyword";
                /** @description Whether to return only memories that are likely answers, with the mode `hybrid`. Their score without decay must be high enough. An empty result means that nothing is known about the query. */
                known?: "true" | "false";
                /** @description Whether a memory's score falls with its age. */
                decay?: "true" | "false";
                /** @description Whether each memory has an `explanation` of its score. */
                explain?: "true" | "false";
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found. */
            200: {
                headers: {
                    /** @description The mode that was used: `keyword` instead of `hybrid` while the server loads the model after a start. */
                    "Ctxd-Search-Mode"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: components["schemas"]["FoundMemory"][];
                    };
                };
            };
        };
    };
    getMemory: {
        parameters: {
            query?: {
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path: {
                /** @description `mem_` and a UUID in hex. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory. */
            200: {
                headers: {
                    /** @description Identifies this state of the memory, for `If-Match`. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Memory"];
                };
            };
        };
    };
    updateMemory: {
        parameters: {
            query?: {
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: {
                /** @description The memory's `ETag`. The change is refused if the memory has changed since. */
                "if-match"?: string;
            };
            path: {
                /** @description `mem_` and a UUID in hex. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The memory's text. Not only white space.
                     * @example The user prefers to be called Sam.
                     */
                    content?: string;
                    /**
                     * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
                     * @example [
                     *       "work"
                     *     ]
                     */
                    tags?: string[];
                    /** @description `null` clears it. */
                    agent_id?: string | null;
                    /** @description `null` clears it. */
                    session_id?: string | null;
                    /** @description `null` clears it. */
                    project?: string | null;
                    /**
                     * @description 0 to 1. The higher, the slower the memory's score decays with age.
                     * @example 0.5
                     */
                    importance?: number;
                    /**
                     * @description Whether the memory never fades.
                     * @example false
                     */
                    pinned?: boolean;
                    /**
                     * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
                     * @example {}
                     */
                    metadata?: {
                        [key: string]: unknown;
                    };
                    /** @description A moment in the future. `null` clears it. */
                    expires_at?: string | null;
                };
            };
        };
        responses: {
            /** @description The changed memory. */
            200: {
                headers: {
                    /** @description Identifies this state of the memory, for `If-Match`. */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SavedMemory"];
                };
            };
        };
    };
    deleteMemory: {
        parameters: {
            query?: {
                /** @description Whether the memory's whole history is deleted too. Otherwise the memories before and after it are linked with each other. */
                history?: "true" | "false";
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path: {
                /** @description `mem_` and a UUID in hex. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description `mem_` and a UUID in hex.
                         * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
                         */
                        id: string;
                        /** @constant */
                        deleted: true;
                    };
                };
            };
        };
    };
    getMemoryHistory: {
        parameters: {
            query?: {
                /** @description The most memories to return. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Only memories that were saved by this moment; a date means its end in UTC. */
                as_of?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path: {
                /** @description `mem_` and a UUID in hex. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: components["schemas"]["Memory"][];
                        /** @description The `cursor` of the next page; `null` on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createMemories: {
        parameters: {
            query?: {
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: {
                /** @description A repeated request with the same key within 24 hours saves nothing and gets the same answer. */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    memories: {
                        /**
                         * @description The memory's text. Not only white space.
                         * @example The user prefers to be called Sam.
                         */
                        content: string;
                        /**
                         * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
                         * @default []
                         * @example [
                         *       "work"
                         *     ]
                         */
                        tags?: string[];
                        /**
                         * @description The agent that the memory belongs to.
                         * @example planner
                         */
                        agent_id?: string;
                        /**
                         * @description The conversation that the memory comes from.
                         * @example s-42
                         */
                        session_id?: string;
                        project?: string | null;
                        /**
                         * @description 0 to 1. The higher, the slower the memory's score decays with age.
                         * @default 0.5
                         * @example 0.5
                         */
                        importance?: number;
                        /**
                         * @description Whether the memory never fades.
                         * @example false
                         */
                        pinned?: boolean;
                        supersedes?: string | null;
                        /**
                         * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
                         * @default {}
                         * @example {}
                         */
                        metadata?: {
                            [key: string]: unknown;
                        };
                        /** @description A moment in the future. */
                        expires_at?: string | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description The saved memories, in the given order. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: components["schemas"]["SavedMemory"][];
                    };
                };
            };
        };
    };
    moveMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory must have one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether a memory must have one of `tags` (the default) or all. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Only memories of this project. */
                project?: string;
                /** @description `true` without `project`: memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, the app's grant or the account that wrote the memory. */
                source?: string;
                /** @description `true`: only memories that were captured from conversations. `false`: only others. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The new project of the memories; `null` for none.
                     * @example atlas
                     */
                    project: string | null;
                };
            };
        };
        responses: {
            /** @description The number of memories that were moved. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example 3 */
                        moved: number;
                    };
                };
            };
        };
    };
    captureTurns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The agent that the conversation is with.
                     * @example claude-code
                     */
                    agent: string;
                    /**
                     * @description The conversation that the memory comes from.
                     * @example s-42
                     */
                    session_id?: string;
                    /** @description The project of the conversation. Default: the project of the folder, on the same machine. */
                    project?: string | null;
                    /** @description What was said, in order. */
                    turns?: {
                        /** @enum {string} */
                        role: "user" | "assistant";
                        /**
                         * @description What was said.
                         * @example Call me Sam.
                         */
                        content: string;
                        /**
                         * @description Identifies the turn among all turns of the agent: sending the same id again creates no second memory. Default: the session and the text.
                         * @example turn-17
                         */
                        id?: string;
                        /**
                         * Format: date-time
                         * @description When it was said.
                         * @example 2026-11-21T07:00:00.000Z
                         */
                        at?: string;
                    }[];
                    /**
                     * @description Path of the agent's transcript, instead of `turns`. Its new turns are read after the response. Accepted on the local socket only.
                     * @example /home/sam/.claude/projects/-atlas/0b5c.jsonl
                     */
                    transcript?: string;
                    /**
                     * @description The folder that the agent works in. Accepted on the local socket only.
                     * @example /home/sam/atlas
                     */
                    folder?: string;
                    /**
                     * @description Days after which the turns expire; `null` for never.
                     * @default 90
                     */
                    kept_days?: number | null;
                };
            };
        };
        responses: {
            /** @description Turns saved, or transcript accepted for reading. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Number of new memories. `null` when the transcript is read after the response, and without the scope `memories:read`. */
                        captured: number | null;
                    };
                };
            };
        };
    };
    recallContext: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The conversation that the memory comes from.
                     * @example s-42
                     */
                    session_id?: string;
                    /** @description The project of the conversation. */
                    project?: string | null;
                    /**
                     * @description The folder that the agent works in. Accepted on the local socket only.
                     * @example /home/sam/atlas
                     */
                    folder?: string;
                    /**
                     * @description What the user asks. Without it, the memories for the beginning of a conversation are returned.
                     * @example How do we deploy?
                     */
                    prompt?: string;
                    /**
                     * @description Whether the agent's context was cleared. Then memories that it has already received are returned again.
                     * @default false
                     */
                    fresh?: boolean;
                    /**
                     * @description Most characters of the text.
                     * @default 4000
                     */
                    max_characters?: number;
                    /**
                     * @description Whether each line says why it is there.
                     * @default false
                     */
                    explain?: boolean;
                };
            };
        };
        responses: {
            /** @description The recalled text. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Text for the agent; empty when nothing is known. */
                        text: string;
                    };
                };
            };
        };
    };
    getTidyReport: {
        parameters: {
            query?: {
                /** @description What there is to tidy. */
                kind?: "restatements" | "contradictions" | "never_found" | "expiring" | "secrets" | "revoked" | "small_projects";
                /** @description The most memories to return. */
                limit?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The report. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The number of groups of each kind. */
                        kinds: {
                            /** @description Groups of memories that say the same. */
                            restatements: number;
                            /** @description Groups of a memory and earlier ones whose fact it changes. */
                            contradictions: number;
                            /** @description Memories that no search has found in 180 days; `null` if it is not known. */
                            never_found: number | null;
                            /** @description Memories that expire in the next 7 days. */
                            expiring: number;
                            /** @description Memories that contain secrets; `null` while they are looked for. */
                            secrets: number | null;
                            /** @description Memories that a key or an app wrote that was revoked. */
                            revoked: number;
                            /** @description Projects with one memory, older than a week. */
                            small_projects: number;
                        };
                        /** @description The share of the memories that have been compared with those near them, about; `null` for an account that does not fit in the server's memory, where none are. */
                        compared: number | null;
                        groups: {
                            /**
                             * @description Names the group as it is. It differs after a change of one of its memories.
                             * @example restatements.mem_0197f2c4e0b47c3a9a1d5b8e2f60c711.5f0c2a9b1d3e
                             */
                            id: string;
                            /**
                             * @description What there is to tidy.
                             * @enum {string}
                             */
                            kind: "restatements" | "contradictions" | "never_found" | "expiring" | "secrets" | "revoked" | "small_projects";
                            /** @description The memory to keep comes first, then the newest. */
                            memories: {
                                /**
                                 * @description `mem_` and a UUID in hex.
                                 * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
                                 */
                                id: string;
                                /**
                                 * @description The memory's text. Not only white space.
                                 * @example The user prefers to be called Sam.
                                 */
                                content: string;
                                /**
                                 * @description Labels to filter by, without commas. Trimmed; duplicates are dropped.
                                 * @example [
                                 *       "work"
                                 *     ]
                                 */
                                tags: string[];
                                agent_id: string | null;
                                session_id: string | null;
                                project: string | null;
                                /**
                                 * @description 0 to 1. The higher, the slower the memory's score decays with age.
                                 * @example 0.5
                                 */
                                importance: number;
                                /**
                                 * @description Whether the memory never fades.
                                 * @example false
                                 */
                                pinned: boolean;
                                supersedes: string | null;
                                superseded_by: string | null;
                                /**
                                 * @description Any JSON object of at most 4 KiB. Kept and returned, not searched.
                                 * @example {}
                                 */
                                metadata: {
                                    [key: string]: unknown;
                                };
                                source: {
                                    /**
                                     * @description How the text came to the server.
                                     * @enum {string}
                                     */
                                    via: "api" | "mcp" | "dashboard" | "import" | "capture";
                                    /**
                                     * @description Name of the key or app, or the person's e-mail address.
                                     * @example laptop
                                     */
                                    by: string;
                                    /**
                                     * @description Id of the key, of the app's grant, or of the person's account.
                                     * @example key_0197f2c4e0b47c3a9a1d5b8e2f60c711
                                     */
                                    id: string;
                                } | null;
                                /**
                                 * Format: date-time
                                 * @description UTC.
                                 * @example 2026-11-21T07:00:00.000Z
                                 */
                                created_at: string;
                                /**
                                 * Format: date-time
                                 * @description UTC.
                                 * @example 2026-11-21T07:00:00.000Z
                                 */
                                updated_at: string;
                                expires_at: string | null;
                                /**
                                 * @description With `as_of`: changed since then, and shown as it is now.
                                 * @constant
                                 */
                                changed_since?: true;
                                /** @description For members of a space: its name; `null` outside. */
                                space?: string | null;
                            }[];
                            proposal: {
                                /**
                                 * @description `supersede`: `keep` supersedes the others, which stay as its history. `delete`: deletes the memories, of restatements and contradictions those besides `keep`. `pin`: never fades, and does not expire. `expire`: expires in 30 days, or when it does anyway. `merge`: moves to `project`.
                                 * @enum {string}
                                 */
                                action: "supersede" | "delete" | "pin" | "expire" | "merge";
                                /** @description Id of the memory that stays. */
                                keep?: string;
                                /** @description The project to merge into. */
                                project?: string;
                            };
                            /** @description What can be done with the group, the proposed action first. */
                            actions: ("supersede" | "delete" | "pin" | "expire" | "merge")[];
                            /** @example 2 memories say the same. */
                            reason: string;
                        }[];
                        /** @description The `cursor` of the next page; `null` on the last page. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    applyTidyProposals: {
        parameters: {
            query?: {
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    groups: {
                        id: string;
                        /**
                         * @description `supersede`: `keep` supersedes the others, which stay as its history. `delete`: deletes the memories, of restatements and contradictions those besides `keep`. `pin`: never fades, and does not expire. `expire`: expires in 30 days, or when it does anyway. `merge`: moves to `project`.
                         * @enum {string}
                         */
                        action?: "supersede" | "delete" | "pin" | "expire" | "merge";
                    }[];
                    /** @description Whether to say what would change, and change nothing. */
                    dry_run?: boolean;
                };
            };
        };
        responses: {
            /** @description What changes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Memories that become history. */
                        superseded: number;
                        /** @description Memories that are deleted permanently. */
                        deleted: number;
                        pinned: number;
                        /** @description Memories that will expire. */
                        expiring: number;
                        /** @description Memories that move to another project. */
                        moved: number;
                        /** @description Id of the change: `DELETE /memories/tidy?undo=ID` undoes it for ten seconds. `null` if nothing changes. */
                        undo: string | null;
                    };
                };
            };
        };
    };
    undoTidying: {
        parameters: {
            query: {
                /** @description `undo` of the answer. */
                undo: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Undone. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        undone: true;
                    };
                };
            };
        };
    };
    exportMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory must have one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether a memory must have one of `tags` (the default) or all. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none; only of this project with `project_only=true`. `*` means all projects. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project`: only memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, the app's grant or the account that wrote the memory. */
                source?: string;
                /** @description `true`: only memories that were captured from conversations. `false`: only others. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Lines. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["Memory"];
                };
            };
        };
    };
    importMemories: {
        parameters: {
            query?: {
                /** @description Whether to report what would be done, and change nothing. */
                dry_run?: "true" | "false";
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/x-ndjson": components["schemas"]["ImportedMemory"];
            };
        };
        responses: {
            /** @description The result. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description New memories. */
                        created: number;
                        /** @description Lines that were newer than the memory with their id and replaced it. */
                        updated: number;
                        /** @description Lines whose memory exists with the same content. */
                        unchanged: number;
                        /** @description Lines that differ from the memory with their id, which is at least as new. */
                        kept: number;
                        /** @description Lines that are not a valid memory. */
                        invalid: number;
                        /** @description Lines whose secrets, such as API keys, were masked. They are counted above too. */
                        masked: number;
                        /** @description Why lines were not imported: the first 1,000 of `kept` and `invalid`. */
                        skipped: {
                            /** @description The line's number. */
                            line: number;
                            /** @enum {string} */
                            outcome: "kept" | "invalid";
                            /** @example content is required. */
                            reason: string;
                        }[];
                    };
                };
            };
        };
    };
    findMemoriesAbout: {
        parameters: {
            query: {
                /** @description A name, or words for a subject. */
                q: string;
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Found. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        memories: {
                            /**
                             * @description `mem_` and a UUID in hex.
                             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
                             */
                            id: string;
                            /**
                             * @description `text`: its text names the subject. `fields`: only its tags, metadata, project, agent or session do. `version`: it supersedes such a memory, or is superseded by one. `perhaps`: near in meaning, or a similar name.
                             * @enum {string}
                             */
                            found_by: "text" | "fields" | "version" | "perhaps";
                            /** @description The beginning of its text. */
                            excerpt: string;
                            /**
                             * Format: date-time
                             * @description UTC.
                             * @example 2026-11-27T10:00:00.000Z
                             */
                            created_at: string;
                            project: string | null;
                            captured: boolean;
                            superseded: boolean;
                        }[];
                        /**
                         * @description How many more there are; ask again after forgetting these.
                         * @example 3
                         */
                        more: number;
                        /** @description Sessions of memories that name the subject, with the number of their other memories. */
                        sessions: {
                            session_id: string;
                            others: number;
                        }[];
                        /** @description The person's other spaces with memories that name the subject. They stay. */
                        spaces: {
                            space: string;
                            memories: number;
                        }[];
                    };
                };
            };
        };
    };
    forgetMemories: {
        parameters: {
            query?: {
                /** @description Whether to answer only when the data has left the server's files, some 20 seconds later. */
                wait?: "true" | "false";
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    ids: string[];
                    /** @description What was asked to be forgotten, only if the receipt shall say so. */
                    about?: string;
                };
            };
        };
        responses: {
            /** @description Deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @example 1.2.3 */
                        version: string;
                        /** @description Id of the account, or of the space. */
                        account: string;
                        /** @description The name of the key or app, or the e-mail address of the person who asked. */
                        by: string | null;
                        /** @description Null if it was not to be recorded. */
                        about: string | null;
                        /**
                         * @description The memories that were deleted permanently,
                         * @example 3
                         */
                        deleted: number;
                        /**
                         * @description those of them that were captured from conversations,
                         * @example 3
                         */
                        captured: number;
                        /**
                         * @description and those that newer ones had superseded.
                         * @example 3
                         */
                        superseded: number;
                        /**
                         * Format: date-time
                         * @description UTC.
                         * @example 2026-11-27T10:00:00.000Z
                         */
                        asked_at: string;
                        /**
                         * Format: date-time
                         * @description From then on no answer has them.
                         * @example 2026-11-27T10:00:00.000Z
                         */
                        deleted_at: string;
                        /**
                         * Format: date-time
                         * @description When their data has left the server's files at the latest.
                         * @example 2026-11-27T10:00:00.000Z
                         */
                        leaves_files_by: string;
                        /** @description When the server checked that its files have none of it any more; null if it did not, as with replicas. */
                        left_files_at: string | null;
                    };
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                /** @description Name or id of a space that you are a member of, or `personal`. By default a search looks into your own memories and your spaces, and everything else is about your own. The header `ctxd-space` says the same, percent-encoded. */
                space?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Figures. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
        };
    };
}
