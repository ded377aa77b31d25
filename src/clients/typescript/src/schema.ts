// Made from the server's document: CTXD_WRITE=1 bun test test/clients/schema.test.ts
export interface paths {
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
         * Save what was said in a conversation
         * @description Each turn becomes a memory that expires, with secrets masked and `source.via` = `capture`. Turns that are here already change nothing. In searches they come after what was saved and is as good.
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
         * Recall what is known for a conversation
         * @description What matters for a prompt or to begin with, as a text for an agent: only what is certain enough, and nothing twice in a conversation.
         */
        post: operations["recallContext"];
        delete?: never;
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
         * Take all memories elsewhere
         * @description One memory a line, the oldest first: those of the moment of the request. What changes meanwhile comes as it is then, what is deleted meanwhile does not come. A connection that ends early is an answer that is not complete; it ends when the key is revoked.
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
         * Bring memories in
         * @description One memory a line, as exported; only `content` is needed. Ids and times are kept, but lines of one session that share a time and have no id keep their order by a millisecond each; `source` becomes what imports them. Secrets such as API keys are masked. A line whose id is there already is written only if its `updated_at` is newer, so that the same file twice changes nothing. Lines that are no memory are left out and named. Without the scope `memories:read` there is no `dry_run`, and lines that change nothing all count as `kept`. The body may have any length; memories are saved as it is read, and stay when it breaks off.
         */
        post: operations["importMemories"];
        delete?: never;
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
         * @description The best first; equals by newest, then id.
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
    "/api/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories, newest first
         * @description `next_cursor` of a page leads to the next one; it is null on the last.
         */
        get: operations["listMemories"];
        put?: never;
        /**
         * Save a memory
         * @description When this is answered the memory is on the disk, and every search finds it. What says exactly the same in the same project already is answered with 200 as it is, and nothing is saved. With `supersedes`, what was true before is kept as history, out of searches and lists; it is refused with 409 when another one has taken its place, and needs `memories:write`. `similar=true` needs the scope to read. Without the scope `memories:read` the answer has `id`, `created_at` and `updated_at` alone.
         */
        post: operations["createMemory"];
        /**
         * Delete all memories that pass a filter, for good
         * @description At least one of them is needed. With `source`, all that a misled agent or a lost key wrote goes in one step.
         */
        delete: operations["deleteMemories"];
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
         * @description Its `ETag` guards a change of it against lost updates.
         */
        get: operations["getMemory"];
        /**
         * Change a memory
         * @description Fields that are left out stay as they are. Without the scope `memories:read` the answer has `id`, `created_at` and `updated_at` alone.
         */
        put: operations["updateMemory"];
        post?: never;
        /**
         * Delete a memory for good
         * @description Within a minute it is in no file any more, backups excepted. What it had superseded is then followed by what superseded it, or holds again.
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
         * List what a memory superseded, and what superseded it
         * @description The newest first, with the memory itself: what holds now, then what held before.
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
         * Move all memories that pass a filter to a project
         * @description At least one filter is needed. Histories are moved as a whole. They are as old as before. When it fails, some are moved: send it again.
         */
        post: operations["moveMemories"];
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
         * @description Faster than one by one, and one of them that is not valid keeps all out. All are saved, also those that say what is known already: turns of a conversation, say. Without the scope `memories:read` the answer has `id`, `created_at` and `updated_at` alone.
         */
        post: operations["createMemories"];
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
         * @description By tag, agent and day, with their size on disk and how far they have faded.
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
             * @description Whether it shall never fade.
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
                 * @description The way it came.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of what an app was allowed, or of the person's account.
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
             * @description Whether it shall never fade.
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
                 * @description The way it came.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of what an app was allowed, or of the person's account.
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
             * @description About the chance that it bears on the query, comparable between queries and accounts; age counts.
             * @example 0.82
             */
            score: number;
            /** @description The passage that made it match: that of the nearest meaning, and in it where most of the query's words are together. All of a short `content`. */
            matched: {
                /**
                 * @description At most 400 characters: whole sentences where they fit.
                 * @example The user prefers to be called Sam.
                 */
                text: string;
                /** @description Where it begins in `content`, in characters: Unicode code points, from 0. */
                start: number;
                /** @description Where it ends in `content`: the first character after it. */
                end: number;
            };
            /**
             * @description Id of the newest memory that was found of the same fact, where it is another.
             * @example mem_0197f2c4e0b47c3a9a1d5b8e2f60c711
             */
            newer?: string;
            /** @description What the score is made of. The first eight are log-odds: 0 is neither for nor against, and each 2.3 makes it ten times as likely that the memory answers the query. */
            explanation?: {
                /**
                 * @description What every memory begins with, before anything speaks for it.
                 * @example 1.2
                 */
                start: number;
                /**
                 * @description How near its meaning is to the query's, as a whole and word by word.
                 * @example 1.2
                 */
                meaning: number;
                /**
                 * @description How many of the query's words it has; rare ones count more.
                 * @example 1.2
                 */
                words: number;
                /**
                 * @description What stands around it in its session: an answer often follows its question.
                 * @example 1.2
                 */
                session: number;
                /**
                 * @description Who says it, whether it asks or tells, and names and numbers as asked for.
                 * @example 1.2
                 */
                wording: number;
                /**
                 * @description Whether it is of the time that the query names, or the version of a fact that holds.
                 * @example 1.2
                 */
                time: number;
                /**
                 * @description Less for long texts, in which many words answer nothing.
                 * @example 1.2
                 */
                length: number;
                /**
                 * @description What all results together tell of whether anything here answers the query; it makes scores of different queries comparable.
                 * @example 1.2
                 */
                question: number;
                /** @description What these come to: 1 / (1 + e^−sum). */
                relevance: number;
                /** @description What is left of it at its age. */
                retention: number;
                /** @description The share of the score that age can take. */
                decay: number;
            };
        };
        ImportedMemory: {
            /**
             * @description As it is exported. By default one that follows from what the line says.
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
             * @description Whether it shall never fade.
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
            /** @description As it is exported. It also follows from `supersedes` of a line beside it, or after it. */
            superseded_by?: string | null;
            /** @description As it is exported. What imports it is recorded instead. */
            source?: {
                /**
                 * @description The way it came.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of what an app was allowed, or of the person's account.
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
             * @description Whether it shall never fade.
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
                 * @description The way it came.
                 * @enum {string}
                 */
                via: "api" | "mcp" | "dashboard" | "import" | "capture";
                /**
                 * @description Name of the key or app, or the person's e-mail address.
                 * @example laptop
                 */
                by: string;
                /**
                 * @description Id of the key, of what an app was allowed, or of the person's account.
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
            /** @description Present only where there is something to tell. */
            warnings?: {
                /** @constant */
                code: "secret";
                /**
                 * @description JSON pointer to the field.
                 * @example /content
                 */
                path: string;
                /** @example Has what looks like a secret: github-token. */
                message: string;
            }[];
            /** @description With `?similar=true`: at most 10 memories that say nearly the same, or that may be outdated. */
            similar?: {
                /** @description Of the memory that is like the one that was saved. */
                id: string;
                /** @description 1 for the same text. */
                score: number;
                /**
                 * @description `near` says nearly the same; `changed` says something else of the same, and may be superseded.
                 * @enum {string}
                 */
                kind: "near" | "changed";
            }[];
        };
        Stats: {
            /** @description How many there are. */
            memories: number;
            /** @description Size on disk, with vectors, indexes and what upkeep has yet to remove; `null` for a key that is bound to a project. */
            bytes: number | null;
            oldest: string | null;
            newest: string | null;
            /** @description By tag, the 100 most frequent. */
            tags: {
                tag: string;
                /** @description How many memories. */
                memories: number;
            }[];
            /** @description By agent, the 100 most frequent. */
            agents: {
                agent_id: string | null;
                /** @description How many memories. */
                memories: number;
            }[];
            /** @description By project, the 1000 most frequent; `null` is none. */
            projects: {
                project: string | null;
                /** @description How many memories. */
                memories: number;
            }[];
            /** @description By day of creation, those with any, the oldest first; the last 3660. */
            days: {
                /**
                 * @description In UTC.
                 * @example 2026-11-21
                 */
                day: string;
                /** @description How many memories. */
                memories: number;
            }[];
            /** @description How far memories have faded: means of those alike in age and importance; pinned ones, which never fade, are counted apart. */
            fading: {
                /** @description Since the last change. */
                age_days: number;
                /** @description 0 to 1. */
                importance: number;
                /** @description What is left of them at their age. */
                retention: number;
                /** @description How many memories. */
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
                    /** @description What it is about; by default the project of the folder, on the same machine. */
                    project?: string | null;
                    /** @description What was said, in its order. */
                    turns?: {
                        /** @enum {string} */
                        role: "user" | "assistant";
                        /**
                         * @description What was said.
                         * @example Call me Sam.
                         */
                        content: string;
                        /**
                         * @description Tells it from all other turns of the agent: the same one again makes no second memory. By default its session and its text.
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
                     * @description Path of the agent's transcript, in place of `turns`: what is new in it is read after the answer. On the local socket alone.
                     * @example /home/sam/.claude/projects/-atlas/0b5c.jsonl
                     */
                    transcript?: string;
                    /**
                     * @description The folder that the agent works in. On the local socket alone.
                     * @example /home/sam/atlas
                     */
                    folder?: string;
                    /**
                     * @description Days after which it is forgotten; `null` for never.
                     * @default 90
                     */
                    kept_days?: number | null;
                };
            };
        };
        responses: {
            /** @description Saved, or to be read. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description How many memories are new; `null` where the transcript is read after the answer, and without the scope `memories:read`. */
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
                    /** @description What the conversation is about. */
                    project?: string | null;
                    /**
                     * @description The folder that the agent works in. On the local socket alone.
                     * @example /home/sam/atlas
                     */
                    folder?: string;
                    /**
                     * @description What the person asks; without it, what a conversation begins with.
                     * @example How do we deploy?
                     */
                    prompt?: string;
                    /**
                     * @description Whether the conversation has forgotten what it was told.
                     * @default false
                     */
                    fresh?: boolean;
                    /**
                     * @description Of the text.
                     * @default 4000
                     */
                    max_characters?: number;
                };
            };
        };
        responses: {
            /** @description What is known. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description For the agent; empty where nothing is known. */
                        text: string;
                    };
                };
            };
        };
    };
    exportMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory needs one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether one of `tags` is enough, as it is by default, or all are needed. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none, or of it alone with `project_only=true`. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project` they alone are meant. */
                project_only?: "true" | "false";
                /** @description Id of the key, of what an app was allowed, or of the account that wrote it. */
                source?: string;
                /** @description `true` for what was captured from conversations alone, `false` for what was saved otherwise. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
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
                /** @description Whether only to tell what would be done. */
                dry_run?: "true" | "false";
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
            /** @description What was done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description New memories. */
                        created: number;
                        /** @description Lines that were newer than the memory with their id, and replaced it. */
                        updated: number;
                        /** @description Lines whose memory is here already, just so. */
                        unchanged: number;
                        /** @description Lines that differ from the memory with their id, which is as new or newer. */
                        kept: number;
                        /** @description Lines that are no memory. */
                        invalid: number;
                        /** @description Lines with secrets such as API keys, which were masked. They count above too. */
                        masked: number;
                        /** @description Why lines were kept out: the first 1,000 of `kept` and `invalid`. */
                        skipped: {
                            /** @description Its number. */
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
    searchMemories: {
        parameters: {
            query: {
                /** @description What to look for, in natural language. Of a time that it names, such as last week or in May 2023, memories come first. */
                q: string;
                /** @description How many memories to return at most. */
                limit?: number;
                /** @description Comma-separated. A memory needs one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether one of `tags` is enough, as it is by default, or all are needed. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none, or of it alone with `project_only=true`. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project` they alone are meant. */
                project_only?: "true" | "false";
                /** @description Id of the key, of what an app was allowed, or of the account that wrote it. */
                source?: string;
                /** @description `true` for what was captured from conversations alone, `false` for what was saved otherwise. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
                /** @description Whether memories come that others have superseded. */
                include_superseded?: "true" | "false";
                /** @description Memories with a lower `score` are left out: the score as it is shown, decay included. */
                min_score?: number;
                /** @description By meaning and words, by meaning, or by words alone. */
                mode?: "hybrid" | "semantic" | "keyword";
                /** @description Whether only memories are found whose score, age aside, is high enough to take them for answers; with the mode `hybrid`. None means that nothing is known about what was asked. */
                known?: "true" | "false";
                /** @description Whether the score of a memory falls with its age. */
                decay?: "true" | "false";
                /** @description Whether each memory comes with the parts of its score. */
                explain?: "true" | "false";
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
                    /** @description How these were found: `keyword` instead of `hybrid` in the moments after a start in which the model is still being loaded. */
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
    listMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory needs one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether one of `tags` is enough, as it is by default, or all are needed. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project and of none, or of it alone with `project_only=true`. */
                project?: string;
                /** @description Whether memories of no project are left out. Without `project` they alone are meant. */
                project_only?: "true" | "false";
                /** @description Id of the key, of what an app was allowed, or of the account that wrote it. */
                source?: string;
                /** @description `true` for what was captured from conversations alone, `false` for what was saved otherwise. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
                /** @description Created at this moment or later. */
                created_after?: string;
                /** @description Whether memories come that others have superseded. */
                include_superseded?: "true" | "false";
                /** @description How many memories to return at most. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
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
                        /** @description Where the next page starts; `null` at the end. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    createMemory: {
        parameters: {
            query?: {
                /** @description Whether memories are told that say nearly the same, or may be outdated by it. */
                similar?: "true" | "false";
            };
            header?: {
                /** @description The same key within 24 hours makes nothing new and is answered alike. */
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
                     * @description Whether it shall never fade.
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
            /** @description The memory that says the same already. */
            200: {
                headers: {
                    /** @description Names this state of the memory, for `If-Match`. */
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
                    /** @description Names this state of the memory, for `If-Match`. */
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
                /** @description Comma-separated. A memory needs one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether one of `tags` is enough, as it is by default, or all are needed. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project alone. */
                project?: string;
                /** @description `true` without `project`: memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, of what an app was allowed, or of the account that wrote it. */
                source?: string;
                /** @description `true` for what was captured from conversations alone, `false` for what was saved otherwise. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How many there were. */
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
    getMemory: {
        parameters: {
            query?: never;
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
                    /** @description Names this state of the memory, for `If-Match`. */
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
            query?: never;
            header?: {
                /** @description The memory's `ETag`: refuse if it has changed since. */
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
                     * @description Whether it shall never fade.
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
                    /** @description Names this state of the memory, for `If-Match`. */
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
                /** @description Whether what it superseded and what superseded it is deleted too. Otherwise these are linked with each other. */
                history?: "true" | "false";
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
                /** @description How many memories to return at most. */
                limit?: number;
                /** @description `next_cursor` of the page before. */
                cursor?: string;
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
                        /** @description Where the next page starts; `null` at the end. */
                        next_cursor: string | null;
                    };
                };
            };
        };
    };
    moveMemories: {
        parameters: {
            query?: {
                /** @description Comma-separated. A memory needs one of them, or all with `tags_match=all`. */
                tags?: string;
                /** @description Whether one of `tags` is enough, as it is by default, or all are needed. */
                tags_match?: "any" | "all";
                /** @description The agent that the memory belongs to. */
                agent_id?: string;
                /** @description The conversation that the memory comes from. */
                session_id?: string;
                /** @description Memories of this project alone. */
                project?: string;
                /** @description `true` without `project`: memories of no project. */
                project_only?: "true" | "false";
                /** @description Id of the key, of what an app was allowed, or of the account that wrote it. */
                source?: string;
                /** @description `true` for what was captured from conversations alone, `false` for what was saved otherwise. */
                captured?: "true" | "false";
                /** @description Created before this moment. */
                created_before?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": {
                    /**
                     * @description The project that they belong to from now on; `null` for none.
                     * @example atlas
                     */
                    project: string | null;
                };
            };
        };
        responses: {
            /** @description How many there were elsewhere. */
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
    createMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description The same key within 24 hours makes nothing new and is answered alike. */
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
                         * @description Whether it shall never fade.
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
            /** @description Saved, in the order given. */
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
    getStats: {
        parameters: {
            query?: never;
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
