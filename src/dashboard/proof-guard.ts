import type { Config } from "../config.ts";
import { seeOther } from "../http/see-other.ts";
import { localPath } from "../sign-in/local-path.ts";
import { PROOF_PATH } from "../sign-in/paths.ts";
import type { Proof } from "../sign-in/proof.ts";
import type { AskForProof } from "../sign-in/proof-routes.tsx";
import type { Guard } from "./guard.tsx";

export type ProofGuard = ReturnType<typeof createProofGuard>;

/**
 * Stands before pages and forms that a stolen session must not reach: the same as the guard, but who
 * has not proved a moment ago who they are is asked for that first, and goes on then.
 */
export function createProofGuard({
  config: { publicUrl },
  guard,
  proof,
  askForProof,
}: {
  config: Pick<Config, "publicUrl">;
  guard: Pick<Guard, "show" | "act">;
  proof: Pick<Proof, "isFresh">;
  askForProof: AskForProof;
}): Pick<Guard, "show" | "act"> {
  const pathOf = ({ pathname, search }: URL) => localPath(pathname + search, publicUrl) ?? "/";

  return {
    show: (request, render) =>
      guard.show(request, (visit) => {
        if (proof.isFresh(visit)) return render(visit);
        return seeOther(`${PROOF_PATH}?${new URLSearchParams({ next: pathOf(visit.url) })}`);
      }),

    act: (request, work, again, maxBytes) =>
      guard.act(
        request,
        (visit, form) =>
          proof.isFresh(visit)
            ? work(visit, form)
            : askForProof(visit, { to: pathOf(visit.url), form }),
        again,
        maxBytes,
      ),
  };
}
