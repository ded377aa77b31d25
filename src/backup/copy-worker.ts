import { copyDatabase, openUnmigrated } from "../db/sqlite-files.ts";
import { CtxdError } from "../errors.ts";
import { type FromCopy, readState, type ToCopy } from "./copy-state.ts";

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToCopy>) => self.postMessage(answerTo(data));

function answerTo({ from, path }: ToCopy): FromCopy {
  try {
    if (from !== null) {
      using live = openUnmigrated(from);
      copyDatabase(live, path);
    }
    return readState(path);
  } catch (error) {
    if (error instanceof CtxdError) return { problem: error.message };
    throw error;
  }
}
