/** @jsxRuntime automatic @jsxImportSource #pages */
import { createSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { createCheck } from "../../http/requests/validation.ts";
import { requireScope } from "../../keys/reach.ts";
import { Receipt, receiptText } from "../../memories/model/forgetting.ts";
import { LIMITS, MEMORY_ID } from "../../memories/model/memory.ts";
import { Choice } from "../../pages/field.tsx";
import { memoryCount } from "../../text/number-text.ts";
import { MEMORY_PATHS } from "../navigation.tsx";
import { ConfirmPage } from "../page-routes.tsx";
import type { Parts } from "../parts.ts";
import { memoryFacts, type Visit } from "../session.ts";
import { FORGET_PATHS, ForgetPage, ReceiptPage, shownOf } from "./forget-page.tsx";

/** Milliseconds for which a receipt can be downloaded. */
const KEPT_MS = 60 * 60_000;

const checkReceipt = createCheck(Receipt);

/** Forgetting what is about a person or a subject: the search, the question, the deletion and its receipt. */
export function addForgetPages({ pages, memories, ephemeral, clock, record }: Parts): void {
  const keyOf = ({ account }: Visit, id: string) => `receipt ${account.id} ${id}`;

  /** Keeps a receipt for the rest of its hour. */
  const keep = async (visit: Visit, id: string, receipt: Receipt): Promise<void> =>
    ephemeral.put(
      keyOf(visit, id),
      JSON.stringify(receipt),
      Date.parse(receipt.deleted_at) + KEPT_MS - clock(),
    );

  /** The receipt that an address names, which says what is true of the files now. @throws AppError `not_found` */
  const receiptIn = async (visit: Visit) => {
    const id = visit.url.searchParams.get("id") ?? "";
    const kept = await ephemeral.take(keyOf(visit, id));
    if (kept === null) throw new AppError("not_found", "This receipt is not kept any more.");
    const receipt = checkReceipt(JSON.parse(kept));
    // Put back before anything else: the check may fail, and other requests ask for it meanwhile.
    await keep(visit, id, receipt);
    // Another space may be chosen meanwhile, whose files say nothing about these memories.
    if (receipt.account !== visit.reach.accountId) return { id, receipt };
    // A receipt without the check is worth more than an error.
    const checked = await memories.checkFiles(visit.reach, receipt).catch(() => receipt);
    if (checked !== receipt) await keep(visit, id, checked);
    return { id, receipt: checked };
  };

  /** The ids that a form names, with those that its page did not show. */
  const idsIn = async ({ reach }: Visit, form: URLSearchParams): Promise<string[]> => {
    const ids = new Set(form.getAll("id").filter((id) => MEMORY_ID.test(id)));
    if (form.has("others")) {
      const { memories: found } = await memories.about(reach, subjectIn(form));
      const shown = new Set(shownOf(found, "text"));
      for (const memory of found) {
        if (memory.found_by === "text" && !shown.has(memory)) ids.add(memory.id);
      }
    }
    if (ids.size > 0) return [...ids];
    throw new AppError("validation_failed", "No memory is selected. Go back and select some.");
  };

  pages.get(MEMORY_PATHS.forget, (visit) => (
    <ForgetPage visit={visit} subject={visit.url.searchParams.get("about") ?? ""} found={null} />
  ));
  // The subject is in no address, which browsers and proxies remember.
  pages.post(MEMORY_PATHS.forget, async (visit, form) => {
    requireScope(visit.reach, "memories:write");
    const subject = subjectIn(form);
    const found = await memories.about(visit.reach, subject);
    return <ForgetPage visit={visit} subject={subject} found={found} />;
  });
  pages.post(FORGET_PATHS.ask, async (visit, form) => {
    const ids = await idsIn(visit, form);
    return (
      <ConfirmPage
        visit={visit}
        section="memories"
        title={`Delete ${memoryCount(ids.length)}?`}
        action={FORGET_PATHS.receipt}
        confirm={`Delete ${memoryCount(ids.length)}`}
        cancel={MEMORY_PATHS.forget}
        text={
          <>
            {ids.map((id) => (
              <input type="hidden" name="id" value={id} />
            ))}
            <input type="hidden" name="subject" value={subjectIn(form)} />
            <p>They will be deleted permanently. You can't undo this.</p>
            <Choice name="named" value="1">
              Say in the receipt what I searched for
            </Choice>
          </>
        }
      />
    );
  });
  pages.proved.post(FORGET_PATHS.receipt, async (visit, form) => {
    const about = form.has("named") ? subjectIn(form) : null;
    const receipt = await memories.forget(visit.reach, { ids: await idsIn(visit, form), about });
    record(visit.request, "memories_deleted", { ...memoryFacts(visit), amount: receipt.deleted });
    const id = createSecret("receipt_");
    await keep(visit, id, { ...receipt, by: visit.account.email });
    return { to: `${FORGET_PATHS.receipt}?${new URLSearchParams({ id })}` };
  });
  pages.get(FORGET_PATHS.receipt, async (visit) => (
    <ReceiptPage visit={visit} {...(await receiptIn(visit))} />
  ));
  pages.get(FORGET_PATHS.file, async (visit) => {
    const { receipt } = await receiptIn(visit);
    const day = receipt.deleted_at.slice(0, 10);
    return new Response(receiptText(receipt), {
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "content-disposition": `attachment; filename="ctxd-receipt-${day}.txt"`,
        "cache-control": "no-store",
      },
    });
  });
}

/** @throws AppError `validation_failed` */
function subjectIn(form: URLSearchParams): string {
  const subject = form.get("subject")?.trim() ?? "";
  if (subject !== "" && subject.length <= LIMITS.query) return subject;
  throw new AppError("validation_failed", "Say who or what is to be forgotten.");
}
