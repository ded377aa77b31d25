import { ConnectError, unlessDamaged } from "./client.ts";
import {
  copiesOf,
  nextCopy,
  readConfiguration,
  removeConfiguration,
  replaceConfiguration,
} from "./files.ts";

/** One of the things that ctxd has in a file: its entry, its hooks, its plugin or its permission rule. */
export interface Part {
  /**
   * Writes it as it is wanted.
   * @param former the text before ctxd changed it; empty for a new file
   */
  apply(text: string, former: string): string;
  /** Writes it into a text as it is in another one. */
  carry(from: string, to: string): string;
}

/** A file that is wholly ctxd's. @param wanted its text; null removes it */
export function wholeFile(isOurs: (text: string) => boolean, wanted: string | null): Part {
  return {
    apply: (text, former) => wanted ?? (isOurs(text) ? former : text),
    carry: (from, to) => (isOurs(from) ? from : isOurs(to) ? "" : to),
  };
}

/** A change of a file. */
export type Change = ReturnType<typeof planChange>;

/**
 * Plans the change of a file. While a file differs only by ctxd's parts from what it was before them, it is
 * written again from that: without any parts it is the same, byte for byte. Where something else has changed
 * in it, only the parts are changed.
 * @throws ConnectError when the file can't be changed
 */
export function planChange(path: string, parts: readonly Part[]) {
  const file = readConfiguration(path);
  const carry = (from: string, to: string) =>
    edit(to, parts, (part, text) => part.carry(withoutMark(from), text));
  const isFree = ({ text }: { text: string }) =>
    unlessDamaged(() => carry("", text) === text, false);

  const copies = copiesOf(file);
  const former = isFree(file) ? file : (copies.find(isFree) ?? NO_FILE);
  // What a link leads to was there, so it is never taken for a new file.
  const isExact =
    (former !== NO_FILE || !file.isLink) &&
    unlessDamaged(() => carry(file.text, former.text) === file.text, false);
  return namingFile(path, () => {
    const changed = edit(file.text, parts, (part, text) =>
      part.apply(text, withoutMark(former.text)),
    );
    const text = isExact ? carry(changed, former.text) : changed;
    const isFreed = isFree({ text });
    const isRemoval = !former.exists && !file.isLink && text !== file.text && isBlank(text);
    // A copy that has parts of ctxd says nothing about what was before them, but it has all else.
    const hasCopy =
      former === file
        ? copies.some((copy) => copy.text === file.text)
        : copies.length > 0 || isExact;
    return {
      file,
      text,
      /** Whether the file is removed, because ctxd created it and nothing is left in it. */
      isRemoval: file.exists && isRemoval,
      /** The path of a copy that is written first; null for none. */
      copy: file.exists && !isFreed && !hasCopy ? nextCopy(file) : null,
      /** Whether nothing of ctxd is left in the file. */
      isFree: isFreed,
      /** Copies that are not needed any more. */
      copies: file.exists && isFreed ? copies : [],
    };
  });
}

const NO_FILE = { text: "", exists: false };

/** Some editors begin a file with a byte order mark. */
const BYTE_ORDER_MARK = /^\uFEFF/;

function withoutMark(text: string): string {
  return text.replace(BYTE_ORDER_MARK, "");
}

function edit(
  text: string,
  parts: readonly Part[],
  write: (part: Part, text: string) => string,
): string {
  const [mark = ""] = BYTE_ORDER_MARK.exec(text) ?? [];
  return mark + parts.reduce((written, part) => write(part, written), withoutMark(text));
}

/** Whether a text has no settings, in any format. */
function isBlank(text: string): boolean {
  return /^(\{\s*\})?$/.test(text.trim());
}

/** @throws ConnectError when a file can't be changed, or has changed since the change was planned */
export function applyChange({ file, text, isRemoval, copy, copies }: Change): void {
  if (isRemoval) removeConfiguration(file);
  else if (text !== file.text) replaceConfiguration(file, text, copy);
  for (const each of copies) removeConfiguration(each);
}

/** Does some work, and names the file in its errors. */
export function namingFile<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    throw new ConnectError(`${path} ${error.message}.`, { cause: error });
  }
}
