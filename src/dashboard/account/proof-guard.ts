import type { Config } from "../../config/config.ts";
import { seeOther } from "../../http/see-other.ts";
import { localPath } from "../../sign-in/local-path.ts";
import { PROOF_PATH } from "../../sign-in/paths.ts";
import type { Proof } from "../../sign-in/proof.ts";
import type { AskForProof } from "../../sign-in/proof-routes.tsx";
import type { Guard } from "../guard.tsx";

export interface ProofGuard {
  /** @param next the page to open after the proof, if it is not the requested one */
  show(request: Request, render: Parameters<Guard["show"]>[1], next?: string): Promise<Response>;
  act: Guard["act"];
}

/**
 * Guards pages and forms that a stolen session must not reach. It works like `Guard`, but first asks for a proof of
 * identity, such as the password, unless the last proof is fresh.
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
}): ProofGuard {
  const pathOf = ({ pathname, search }: URL) => localPath(pathname + search, publicUrl) ?? "/";

  return {
    show: (request, render, next) =>
      guard.show(request, async (visit) => {
        if (await proof.isFresh(visit)) return render(visit);
        const query = new URLSearchParams({ next: next ?? pathOf(visit.url) });
        return seeOther(`${PROOF_PATH}?${query}`);
      }),

    act: (request, work, renderProblem, maxBytes) =>
      guard.act(
        request,
        async (visit, form) =>
          (await proof.isFresh(visit))
            ? work(visit, form)
            : askForProof(visit, { to: pathOf(visit.url), form }),
        renderProblem,
        maxBytes,
      ),
  };
}
