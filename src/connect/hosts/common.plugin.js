/** What a command of ctxd prints for an event; empty when it fails, which is no reason to stop. */
const run = (kind, event) =>
  new Promise((resolve) => {
    const [program, ...words] = COMMAND;
    const child = spawn(program, [...words, kind, ...OPTIONS], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: PATIENCE,
    });
    let text = "";
    child.stdout.on("data", (bytes) => (text += bytes));
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(text.trim()));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });

const textOf = (parts) =>
  parts
    .filter(({ type, synthetic, ignored }) => type === "text" && !synthetic && !ignored)
    .map(({ text }) => text)
    .join("\n")
    .trim();

/** The messages of a model as what was said. */
const saidIn = (messages) =>
  messages.map(({ role, content, timestamp }) => ({
    role,
    content: typeof content === "string" ? content.trim() : textOf(content ?? []),
    ...(timestamp && { at: new Date(timestamp).toISOString() }),
  }));

/** What was said since the person spoke last: the person's words, then all of the answer. */
const lastTurns = (said) => {
  const from = said.findLastIndex(({ role }) => role === "user");
  const [asked, ...others] = from < 0 ? [] : said.slice(from);
  const answers = others.filter(({ role, content }) => role === "assistant" && content);
  const content = answers.map((answer) => answer.content).join("\n\n");
  const turns = asked ? [asked, ...(content ? [{ ...answers[0], content }] : [])] : [];
  return turns.filter((turn) => turn.content);
};
