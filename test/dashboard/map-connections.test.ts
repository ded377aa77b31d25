import { expect, spyOn, test } from "bun:test";
import type { Guard } from "../../src/dashboard/guard.tsx";
import { MAP_PATHS } from "../../src/dashboard/map/map-page.tsx";
import { addMapPage } from "../../src/dashboard/map/map-routes.tsx";
import { PATHS } from "../../src/dashboard/navigation.tsx";
import { createPages } from "../../src/dashboard/page-routes.tsx";
import type { Parts } from "../../src/dashboard/parts.ts";

test("map requests without a session do not disable the connection's time limit", async () => {
  const guard = { show: async () => new Response(null, { status: 303 }) } as Pick<Guard, "show">;
  const pages = createPages(guard as Guard);
  addMapPage({ pages } as Partial<Parts> as Parts);
  const app = pages.routes;
  app.listen({ port: 0, hostname: "127.0.0.1" });
  const { server } = app;
  if (!server) throw new Error("there is no server");
  const timeout = spyOn(server, "timeout");
  for (const path of [PATHS.map, MAP_PATHS.points]) {
    const { status } = await fetch(new URL(path, server.url), { redirect: "manual" });
    expect(status).toBe(303);
  }
  expect(timeout).not.toHaveBeenCalled();
  await app.stop(true);
});
