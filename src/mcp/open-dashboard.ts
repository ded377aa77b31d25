import { Type } from "@sinclair/typebox";
import { messageOf } from "../errors.ts";

/** Where a server is asked to open its port for a browser, on the local socket alone. */
export const DASHBOARD_PATH = "/open-dashboard";

/** Where a browser finds the dashboard. */
export interface OpenDashboard {
  /** The server's address. */
  readonly address: string;
  /** Where the owner's account is made, with its secret; null when that is not to be done there. */
  readonly setUp: string | null;
}

/** What is answered there. */
export const OpenDashboard = Type.Object({
  address: Type.String(),
  setUp: Type.Union([Type.String(), Type.Null()]),
});

/** @param open opens the port unless it is open; throws what the person is told */
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
