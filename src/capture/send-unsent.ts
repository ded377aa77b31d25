import { readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { errorCode } from "../errors.ts";
import type { ProjectOf } from "../import/transcripts/folders.ts";
import { type Turn, timeOf } from "../import/transcripts/turn.ts";
import { hashOf } from "../system/file-digest.ts";
import { parseObject } from "../text/parse-json.ts";
import { captureNewTurns, type ProgressFiles } from "./progress.ts";
import {
  CaptureRequest,
  createPlacing,
  MAX_TURN_ID_LENGTH,
  MAX_TURN_LENGTH,
  turnsOf,
} from "./requests.ts";
import { ServerAway, takeUnsent, unsentIn } from "./unsent.ts";

/** The most turns of a request, and the characters after which it takes no further one. */
const MAX_TURNS = 32;
const MAX_CHARACTERS = 1 << 20;

type Body = CaptureRequest & { turns: NonNullable<CaptureRequest["turns"]> };

interface Sending {
  /** The folder of the entries. */
  folder: string;
  progress: ProgressFiles;
  projectOf: ProjectOf;
  /** Resolves when the server has answered, also when it refuses the turns for good. @throws ServerAway */
  send: (body: CaptureRequest) => Promise<void>;
}

/**
 * Sends what waits in a folder, in order, and removes what was sent. Turns keep their ids: one that is sent twice is
 * saved once.
 * @returns the names of entries that stay, because they or their transcripts can't be read now
 * @throws ServerAway
 */
export async function sendUnsent(sending: Sending): Promise<Set<string>> {
  const { folder } = sending;
  const left = new Set<string>();
  for (const name of unsentIn(folder)) {
    let path = join(folder, name);
    try {
      path = await takeUnsent(path);
      const entry = parseObject(readFileSync(path, "utf8"));
      // Another version of ctxd may have written an entry in another form.
      if (Value.Check(CaptureRequest, entry)) await sendEntry(entry, sending);
      rmSync(path, { force: true });
    } catch (error) {
      if (error instanceof ServerAway) throw error;
      if (errorCode(error) === "ENOENT") rmSync(path, { force: true });
      else left.add(basename(path));
    }
  }
  return left;
}

async function sendEntry(
  { transcript, turns = [], ...conversation }: CaptureRequest,
  { progress, projectOf, send }: Sending,
): Promise<void> {
  const { folder = null } = conversation;
  const placeOf = createPlacing(conversation, projectOf);

  const toBody = async (turn: Turn, at: number): Promise<Body> => {
    const { project, session } = await placeOf(turn);
    const { session_id: _, folder: __, ...rest } = conversation;
    return {
      ...rest,
      ...(session !== null && { session_id: session }),
      project,
      turns: [
        {
          role: turn.role,
          content: turn.text.slice(0, MAX_TURN_LENGTH).toWellFormed(),
          id: turn.key.length > MAX_TURN_ID_LENGTH ? hashOf(turn.key) : turn.key,
          at: new Date(at).toISOString(),
        },
      ],
    };
  };

  const save = async (all: readonly Turn[], after: number): Promise<number> => {
    const bodies: Body[] = [];
    let last = after;
    for (const turn of all.filter(({ text }) => text.trim() !== "")) {
      // Distinct times keep the order of turns with equal times.
      last = Math.max(timeOf(turn.at) ?? Date.now(), last + 1);
      addTo(bodies, await toBody(turn, last));
    }
    for (const body of bodies) await send(body);
    return last;
  };

  if (transcript === undefined) await save(turnsOf({ ...conversation, turns }), 0);
  else await captureNewTurns({ progress, accountId: "", path: transcript, folder }, save);
}

/** Adds a turn's body to the last one if their projects and sessions are the same and there is room. */
function addTo(bodies: Body[], body: Body): void {
  const last = bodies.at(-1);
  const isSame = last?.project === body.project && last?.session_id === body.session_id;
  const all = [...(last?.turns ?? []), ...body.turns];
  const characters = all.reduce((sum, { content }) => sum + content.length, 0);
  const isFull = all.length > MAX_TURNS || characters > MAX_CHARACTERS;
  if (last && isSame && !isFull) last.turns = all;
  else bodies.push(body);
}
