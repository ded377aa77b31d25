"""Saves a fact, finds it with a question that shares no word with it, and corrects it."""

import os

from ctxd import Client, CtxdError

memories = Client(os.environ["CTXD_KEY"], url=os.environ.get("CTXD_URL", "http://127.0.0.1:7733"))

saved = memories.save("Sam is allergic to peanuts", tags=["food"])
[best, *_] = memories.search("which food makes him ill?", limit=3)
print(best["content"])

# Refused if somebody else has changed it since.
memories.update(saved["id"], content="Sam is allergic to peanuts and shellfish", if_match=saved)

for memory in memories.list(tags=["food"]):
    print(memory["content"])

memories.delete(saved["id"])
try:
    memories.get(saved["id"])
except CtxdError as error:
    if error.code != "memory_not_found":
        raise
    print("It is gone.")
