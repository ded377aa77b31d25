"""An agent that saves and finds memories. `MODEL` names its model; without one, it says what it would do."""

import asyncio
import os

from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from ctxd import AsyncClient
from ctxd.pydantic_ai import memory_toolset


async def main() -> None:
    key, url = os.environ["CTXD_KEY"], os.environ.get("CTXD_URL", "http://127.0.0.1:7733")
    model = os.environ.get("MODEL") or TestModel(call_tools=["save_memory", "search_memories"])
    async with AsyncClient(key, url=url) as client:
        agent = Agent(
            model,
            toolsets=[memory_toolset(client, agent_id="assistant")],
            instructions="Search your memories before you answer, and save what will matter later.",
        )
        print((await agent.run("I am allergic to peanuts. What may I eat?")).output)


asyncio.run(main())
