import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look } from "../support/browser.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

test.each<[string, Look]>([
  ["", { inTurn: true }],
  [", without JavaScript", { javaScript: false }],
])("a replaced memory stays in the history and can be deleted with it%s", async (_, look) => {
  const client = await dashboard.account();
  await dashboard.visitAs(
    client.accountId,
    async (page) => {
      const former = await client.save({
        ...{ content: "Sam works at Acme", tags: ["work"], project: "people" },
        session_id: "s-1",
      });
      await page.goto(`${dashboard.origin}/memories/${former.id}`);
      expect(await page.getByRole("heading", { name: "History" }).count()).toBe(0);
      await page.getByRole("link", { name: "Replace" }).click();
      await page.getByText("The new memory replaces “Sam works at Acme”").waitFor();
      expect(await page.getByLabel("Project").inputValue()).toBe("people");
      await page.getByLabel("Text").fill(" ");
      await press(page, "Save the memory");
      await page.getByRole("alert").waitFor();
      await page.getByText("The new memory replaces “Sam works at Acme”").waitFor();
      await page.getByLabel("Text").fill("Sam works at Globex since October");
      await press(page, "Save the memory");
      await page.getByText("The memory is saved.").waitFor();
      if (look.javaScript !== false) await expectSound(page);

      const { memories } = await client.list();
      expect(memories).toMatchObject([
        {
          ...{ content: "Sam works at Globex since October", supersedes: former.id },
          ...{ tags: ["work"], project: "people", session_id: null },
        },
      ]);
      const entries = page.locator(".versions").getByRole("listitem");
      expect(await entries.count()).toBe(2);
      expect(await entries.first().textContent()).toMatch(/current.*Globex/s);
      expect(await entries.first().locator("del").textContent()).toBe("Acme");
      expect(await entries.first().locator("ins").textContent()).toBe("Globex since October");
      await page.getByRole("link", { name: "Sam works at Acme", exact: true }).click();
      await page.getByText("This memory is out of date.").waitFor();
      expect(await page.getByRole("link", { name: "Replace" }).count()).toBe(0);
      if (look.javaScript !== false) await expectSound(page);

      await page.goto(`${dashboard.origin}/memories`);
      await page.getByRole("checkbox", { name: /Globex/ }).check();
      await page.getByLabel("Project", { exact: true }).fill("friends");
      await press(page, "Move");
      await page
        .getByText(/^\d memor\w+ now belongs? to the project “friends”.$/)
        .first()
        .waitFor();
      await dashboard.applyDue();
      expect(await client.get(former.id)).toMatchObject({ project: "friends" });

      await page.goto(`${dashboard.origin}/memories?history=1`);
      expect(await page.locator(".memory").count()).toBe(2);
      await page.getByRole("link", { name: "Superseded", exact: true }).click();
      await page.getByRole("heading", { name: "History" }).waitFor();
      await page.getByRole("link", { name: "Delete" }).click();
      await page.getByText("Delete its older and newer versions too").click();
      await press(page, "Delete the memory");
      await page.getByText("Deleted permanently: 2 memories.").waitFor();
      expect((await client.list({ include_superseded: "true" })).memories).toEqual([]);
    },
    look,
  );
});

test("a memory can be pinned, moved to a project and given an expiry", async () => {
  const client = await dashboard.account();
  await dashboard.visitAs(client.accountId, async (page) => {
    await page.goto(`${dashboard.origin}/memories/new`);
    await page.getByLabel("Text").fill("The trial ends soon");
    await page.getByLabel("Project").fill("atlas");
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Pinned").check();
    await page.getByLabel("Expires").fill("2026-03-01T12:30");
    await press(page, "Save the memory");
    await page.getByText("The memory is saved.").waitFor();
    const [memory] = (await client.list()).memories;
    const saved = { project: "atlas", pinned: true, expires_at: "2026-03-01T12:30:00.000Z" };
    expect(memory).toMatchObject(saved);
    await page.getByText("This memory is pinned").waitFor();

    await client.update(memory?.id ?? "", { expires_at: "2026-03-01T12:30:45.678Z" });
    await page.goto(`${dashboard.origin}/memories/${memory?.id}/edit`);
    await page.getByLabel("Tags").fill("trial");
    await press(page, "Save changes");
    await page.getByText("The changes are saved.").waitFor();
    // Browsers show only minutes. An unchanged time keeps its milliseconds.
    const kept = { ...saved, tags: ["trial"], expires_at: "2026-03-01T12:30:45.678Z" };
    expect(await client.get(memory?.id ?? "")).toMatchObject(kept);

    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByLabel("Pinned").uncheck();
    await page.getByLabel("Project").fill("");
    await page.getByLabel("Expires").fill("");
    await press(page, "Save changes");
    await page.getByText("The changes are saved.").waitFor();
    const none = { project: null, pinned: false, expires_at: null };
    expect(await client.get(memory?.id ?? "")).toMatchObject(none);
    await page.getByRole("link", { name: "Edit" }).click();
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Expires").fill("2020-01-01T00:00");
    await press(page, "Save changes");
    await page.getByText("expires_at must be in the future").waitFor();
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByText("1 memory", { exact: true }).waitFor();
    expect(await page.locator(".memory .badge").count()).toBe(0);
    await expectSound(page);
  });
});
