import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Page } from "../support/browser.ts";
import type { Client } from "../support/client.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { until } from "../support/until.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

/** Makes an account with memories and an agent, and opens a page as its person. */
async function watching(
  path: string,
  use: (page: Page, agent: Client) => Promise<void>,
  { memories = 3, javaScript = true } = {},
): Promise<void> {
  const agent = await dashboard.account();
  for (let number = 1; number <= memories; number++) {
    await agent.save({ content: `Known ${number}` });
  }
  await dashboard.visitAs(
    agent.accountId,
    async (page) => {
      await page.goto(dashboard.origin + path);
      await use(page, agent);
    },
    { javaScript },
  );
}

const rows = (page: Page) => page.locator("#results article");
const first = (page: Page) => rows(page).first();
const isFirst = (page: Page, text: string) => async () =>
  ((await first(page).textContent()) ?? "").includes(text);

test("a memory that an agent saves appears at the top, and a deleted one disappears", async () => {
  await watching("/memories", async (page, agent) => {
    const { id } = await agent.save({ content: "The cat is called Miro" });
    await until("the new memory is shown", isFirst(page, "Miro"));
    expect(await rows(page).count()).toBe(4);
    await expectSound(page);
    await agent.remove(id);
    await until("the deleted memory is gone", async () => (await rows(page).count()) === 3);
    // New rows work like the others.
    await first(page).getByRole("checkbox").check();
    await page.locator(".selection").waitFor();
  });
});

test("while rows are selected, new memories are announced and shown on request", async () => {
  await watching("/memories", async (page, agent) => {
    await first(page).getByRole("checkbox").check();
    const before = await first(page).boundingBox();
    await agent.save({ content: "First new one" });
    await agent.save({ content: "Second new one" });
    await page.getByRole("button", { name: "2 new memories" }).waitFor();
    expect(await first(page).boundingBox()).toEqual(before);
    expect(await first(page).getByRole("checkbox").isChecked()).toBe(true);
    await expectSound(page);
    await page.getByRole("heading", { name: "Memories", exact: true }).click();
    await page.keyboard.press("n");
    await until("both memories are shown", isFirst(page, "Second new one"));
    expect(await rows(page).count()).toBe(5);
    expect(await page.locator(".live-line button").count()).toBe(0);
    const focused = () => page.evaluate<string>("document.activeElement.textContent");
    await until("the first row has the focus", async () => (await focused()).includes("Second"));
  });
});

test("scrolled or typing people are not disturbed; a click shows new memories", async () => {
  const reads = async (page: Page, agent: Client) => {
    await page.mouse.wheel(0, 600);
    await until("the page has scrolled", () => page.evaluate<boolean>("scrollY > 100"));
    const at = await page.evaluate<number>("scrollY");
    await agent.save({ content: "A new one" });
    const line = page.getByRole("button", { name: "1 new memory" });
    await line.waitFor();
    expect(await page.evaluate<number>("scrollY")).toBe(at);
    await line.click();
    await until("the new memory is shown", isFirst(page, "A new one"));
    expect(await page.evaluate<number>("scrollY")).toBe(0);
  };
  await watching("/memories", reads, { memories: 25 });
  await watching("/memories", async (page, agent) => {
    // The form has not sent this text yet, as it waits for a pause.
    await page.evaluate(`{
      const field = document.querySelector("[type=search]");
      field.value = "Kno";
      field.focus();
    }`);
    await agent.save({ content: "Known newly" });
    await page.getByRole("button", { name: "1 new memory" }).waitFor();
    expect(await rows(page).count()).toBe(3);
    expect(await page.getByRole("searchbox").inputValue()).toBe("Kno");
  });
});

test("a click on the line counts although another memory comes while the button is pressed", async () => {
  await watching("/memories", async (page, agent) => {
    await first(page).getByRole("checkbox").check();
    await agent.save({ content: "First new one" });
    const line = page.locator(".live-line button");
    await line.hover();
    await page.mouse.down();
    await agent.save({ content: "Second new one" });
    await page.getByRole("button", { name: "2 new memories" }).waitFor();
    await page.mouse.up();
    await until("both memories are shown", isFirst(page, "Second new one"));
  });
});

test("results of a search do not update themselves", async () => {
  await watching("/memories?q=Known", async (page, agent) => {
    const count = await rows(page).count();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await agent.save({ content: "Known newly" });
    await page.goto(`${dashboard.origin}/memories?q=Known&rest=1`);
    expect(asked.filter((url) => url.includes("/events"))).toEqual([]);
    expect(count).toBeGreaterThan(0);
  });
});

test("the overview updates its figures, and reloads with the first memory", async () => {
  const figure = (page: Page) => page.locator(".figure").first();
  await watching("/", async (page, agent) => {
    expect(await figure(page).textContent()).toBe("3");
    await page.mouse.wheel(0, 300);
    await agent.save({ content: "One more" });
    await until("the figure is updated", async () => (await figure(page).textContent()) === "4");
  });
  await watching(
    "/",
    async (page, agent) => {
      await page.getByText("No memories yet").waitFor();
      await agent.save({ content: "The first one" });
      await page.getByText("By tag").waitFor();
      expect(await figure(page).textContent()).toBe("1");
    },
    { memories: 0 },
  );
});

test("new activity appears as it happens", async () => {
  await watching("/activity", async (page, agent) => {
    await dashboard.activity.flush();
    await page.getByText("saved 3 memories").waitFor();
    await page.getByText("As a table").click();
    await page.getByRole("heading", { name: "Activity" }).click();
    await agent.search("what is known?");
    await dashboard.activity.flush();
    await page.getByText("searched, found").waitFor();
    expect(await page.locator("details[open]").count()).toBe(1);
    await expectSound(page);
    await page.getByRole("button", { name: "Keep questions" }).click();
    await page.getByText("Questions are kept from now on.").waitFor();
    await expectSound(page);
  });
});

test("a hidden page follows no changes, and catches up when visible", async () => {
  await watching("/memories", async (page, agent) => {
    const hide = (isHidden: boolean) =>
      page.evaluate(`{
        Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }`);
    const closed = page.waitForEvent("requestfailed", (each) => each.url().includes("/events"));
    await hide(true);
    await closed;
    await agent.save({ content: "While nobody looked" });
    const opened = page.waitForRequest((each) => each.url().includes("/events"));
    await hide(false);
    await opened;
    await until("the new memory is shown", isFirst(page, "While nobody looked"));
    expect(await rows(page).count()).toBe(4);
  });
});

test("without scripts the pages do not change", async () => {
  await watching(
    "/memories",
    async (page) => {
      expect(await rows(page).count()).toBe(3);
      expect(await page.locator(".live-line").count()).toBe(0);
    },
    { javaScript: false },
  );
});
