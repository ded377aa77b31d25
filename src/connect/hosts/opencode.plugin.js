export const ctxd = async ({ client, directory }) => {
  /** What each session was told. */
  const told = new Map();
  return {
    event: async ({ event }) => {
      if (event.type !== "session.idle" || !KINDS.includes("capture")) return;
      const id = event.properties.sessionID;
      const { data } = await client.session.messages({ path: { id } });
      const said = (data ?? []).map(({ info, parts }) => ({
        role: info.role,
        content: textOf(parts),
        id: info.id,
        at: new Date(info.time.created).toISOString(),
      }));
      const turns = lastTurns(said);
      if (turns.length > 0) await run("capture", { session_id: id, cwd: directory, turns });
    },

    "chat.message": async ({ sessionID }, { parts }) => {
      if (!KINDS.includes("recall")) return;
      const prompt = textOf(parts);
      const text = await run("recall", { session_id: sessionID, cwd: directory, prompt });
      if (text) told.set(sessionID, [...(told.get(sessionID) ?? []), text]);
    },

    "experimental.chat.system.transform": async ({ sessionID }, output) => {
      output.system.push(...(told.get(sessionID) ?? []));
    },
  };
};
