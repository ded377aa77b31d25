import { Type } from "@sinclair/typebox";
import { messageOf } from "../errors.ts";

/** Path that opens the server's port for a browser. It exists on the local socket only. */
export const DASHBOARD_PATH = "/open-dashboard";

/** Where a browser finds the dashboard. */
export interface OpenDashboard {
  /** The server's address. */
  readonly address: string;
  /** The set-up link with its secret; null when the owner's account can't be created there. */
  readonly setUp: string | null;
}

/** The body of the response. */
export const OpenDashboard = Type.Object({
  address: Type.String(),
  setUp: Type.Union([Type.String(), Type.Null()]),
});

/** @param open opens the port unless it is open; its error message is shown to the user */
export async function answerDashboard(
  request: Request,
  open: () => Promise<OpenDashboard>,
): Promise<Response> {
  if (request.method !== "POST") {
    const error = { code: "method_not_allowed", message: `Use POST for ${DASHBOARD_PATH}.` };
    return Response.json({ error }, { status: 405, headers: { allow: "POST" } });
  }
  try {
    return Response.json(await open());
  } catch (cause) {
    const error = { code: "conflict", message: messageOf(cause) };
    return Response.json({ error }, { status: 409 });
  }
}
