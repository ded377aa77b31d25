export default {
  id: "ctxd",
  name: "ctxd",
  register(api) {
    const place = ({ sessionId, workspaceDir }) => ({ session_id: sessionId, cwd: workspaceDir });

    if (KINDS.includes("recall")) {
      api.on("before_prompt_build", async ({ prompt, currentUserMessage }, context) => {
        const asked = currentUserMessage ?? prompt;
        const text = asked && (await run("recall", { ...place(context), prompt: asked }));
        return text ? { prependContext: text } : undefined;
      });
    }

    if (KINDS.includes("capture")) {
      api.on("agent_end", async ({ messages }, context) => {
        const turns = lastTurns(saidIn(messages));
        if (turns.length > 0) await run("capture", { ...place(context), turns });
      });
    }
  },
};
