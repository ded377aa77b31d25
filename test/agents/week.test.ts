import { expect, test } from "bun:test";
import { messagesWithMemories, recalledIn } from "./observe.ts";
import { findProgram, type Program } from "./programs.ts";
import { askUntilDone, openScenario, untilCaptured } from "./scenario.ts";

const VAULT = "The payment tests need the sandbox key of the vault.";
const DEPLOYS = "We have decided to deploy on Thursdays.";
const HERON = "The staging server of the shop is called heron.";

test("a week: what one agent saved or was told in a repository, the others know", async () => {
  await using scenario = await openScenario();
  const { ask, connect, repository, setUp } = scenario;
  const [claude, codex, copilot] = [
    findProgram("claude-code"),
    findProgram("codex"),
    findProgram("copilot-cli"),
  ];
  for (const each of [claude, codex, copilot]) {
    setUp(each);
    await connect(each);
  }
  const [shop, blog] = [await repository("shop"), await repository("blog")];
  await scenario.startServer();
  /** The memories that a session began with. */
  const recalled = async (agent: Program, question: string, folder = shop) => {
    const { first } = await ask(agent, question, folder);
    return messagesWithMemories(first)
      .flatMap(({ text }) => recalledIn(text))
      .join("\n");
  };

  // Monday: Claude Code saves. Tuesday: Codex is told something, which nobody saves.
  expect((await askUntilDone(scenario, claude, `REMEMBER: ${VAULT}`, shop)).stdout).toContain(
    "mem_",
  );
  await ask(codex, DEPLOYS, shop);
  await untilCaptured(scenario, "acme/shop", DEPLOYS);

  // Wednesday: Copilot, which recalls nothing for a prompt, finds both, and saves.
  const days = await askUntilDone(scenario, copilot, "LOOKUP: On which day do we deploy?", shop);
  expect(days.stdout).toContain(DEPLOYS);
  const keys = await askUntilDone(scenario, copilot, "LOOKUP: the key of the payment tests", shop);
  expect(keys.stdout).toContain(VAULT);
  await askUntilDone(scenario, copilot, `REMEMBER: ${HERON}`, shop);

  // Thursday: new sessions of the others know what was saved and said, and by whom.
  expect(await recalled(codex, "Which key do the payment tests need?")).toContain(VAULT);
  expect(await recalled(claude, "What is the staging server called?")).toContain(HERON);
  const told = await recalled(claude, "On which day do we deploy?");
  expect(told).toMatch(/said by the user on [^)]*\) User: We have decided to deploy on Thursdays/);

  // Friday: in another repository, nobody knows any of it.
  expect(await recalled(claude, "What is the staging server called?", blog)).toBe("");
  const elsewhere = await askUntilDone(scenario, codex, "LOOKUP: the staging server", blog);
  for (const fact of [VAULT, DEPLOYS, HERON]) expect(elsewhere.stdout).not.toContain(fact);
}, 600_000);
