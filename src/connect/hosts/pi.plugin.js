export default (pi) => {
  const place = ({ cwd, sessionManager }) => ({ session_id: sessionManager.getSessionId(), cwd });

  pi.on("before_agent_start", async ({ prompt }, context) => {
    if (!prompt || !KINDS.includes("recall")) return;
    const content = await run("recall", { ...place(context), prompt });
    if (content) return { message: { customType: "ctxd", content, display: false } };
  });

  pi.on("agent_end", async ({ messages }, context) => {
    if (!KINDS.includes("capture")) return;
    const turns = lastTurns(saidIn(messages));
    if (turns.length > 0) await run("capture", { ...place(context), turns });
  });
};
