from __future__ import annotations

import unittest
from typing import Any

from pydantic_ai import (
    Agent,
    ModelMessage,
    ModelResponse,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from ctxd import AsyncClient, CtxdError
from ctxd.pydantic_ai import memory_toolset

from .support import URL, new_key

Step = tuple[str, dict[str, Any]]


class MemoryToolsetTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.client = AsyncClient(new_key(), url=URL)
        self.addAsyncCleanup(self.client.close)
        self.offered: dict[str, Any] = {}

    async def run_steps(self, *steps: Step, client: AsyncClient | None = None, **options: Any) -> list[Any]:
        """What the tools tell a model that calls them so, one after the other."""
        told: list[Any] = []
        remaining = list(steps)

        def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            self.offered = {tool.name: tool for tool in info.function_tools}
            for part in messages[-1].parts:
                if isinstance(part, (ToolReturnPart, RetryPromptPart)):
                    told.append(part.content)
            if not remaining:
                return ModelResponse(parts=[TextPart("done")])
            name, given = remaining.pop(0)
            return ModelResponse(parts=[ToolCallPart(name, given)])

        agent = Agent(FunctionModel(model), toolsets=[memory_toolset(client or self.client, **options)])
        await agent.run("Go on.")
        return told

    async def test_a_model_saves_finds_corrects_and_forgets(self) -> None:
        [saved, found] = await self.run_steps(
            ("save_memory", {"content": "Sam is allergic to peanuts", "tags": ["food"], "importance": None}),
            ("search_memories", {"query": "peanuts", "tags": ["food"]}),
            agent_id="planner",
            session_id="s-42",
        )
        memory = await self.client.get(saved["id"])
        self.assertEqual((memory["agent_id"], memory["session_id"]), ("planner", "s-42"))
        self.assertEqual(found["memories"][0]["content"], "Sam is allergic to peanuts")
        told = await self.run_steps(
            ("update_memory", {"id": saved["id"], "content": "Sam is allergic to nuts"}),
            ("get_memory", {"id": saved["id"]}),
            ("delete_memory", {"id": saved["id"]}),
            ("get_memory", {"id": saved["id"]}),
        )
        self.assertEqual(told[1]["content"], "Sam is allergic to nuts")
        self.assertEqual(told[1]["tags"], ["food"])
        self.assertEqual(told[2], {"id": saved["id"], "deleted": True})
        self.assertIn("No memory", told[3])

    async def test_tells_the_model_what_to_mend(self) -> None:
        [wrong, nothing] = await self.run_steps(
            ("save_memory", {"content": "  "}), ("search_memories", {"query": "xyzzy"})
        )
        self.assertIn("/content", wrong)
        self.assertEqual(nothing, {"memories": [], "note": "Nothing is known about that."})

    async def test_what_a_model_cannot_mend_is_raised(self) -> None:
        stranger = AsyncClient("ctx_wrong", url=URL)
        self.addAsyncCleanup(stranger.close)
        with self.assertRaises(CtxdError) as caught:
            await self.run_steps(("search_memories", {"query": "peanuts"}), client=stranger)
        self.assertEqual(caught.exception.code, "unauthorized")

    async def test_shows_what_matched_of_a_long_memory(self) -> None:
        saved = await self.client.save("Word after word. " * 200 + "The safe opens with a fish.")
        [found] = await self.run_steps(("search_memories", {"query": "fish safe opens"}))
        [entry] = found["memories"]
        self.assertEqual((entry["id"], entry["cut"]), (saved["id"], True))
        self.assertLess(len(entry["content"]), 500)

    async def test_offers_tools_that_say_what_they_take(self) -> None:
        await self.run_steps(read_only=True)
        self.assertEqual(list(self.offered), ["search_memories", "get_memory"])
        await self.run_steps()
        self.assertEqual(
            list(self.offered),
            ["search_memories", "get_memory", "save_memory", "update_memory", "delete_memory"],
        )
        for tool in self.offered.values():
            self.assertTrue(tool.description)
        schema = self.offered["save_memory"].parameters_json_schema
        self.assertEqual(schema["required"], ["content"])
        self.assertIn("understandable on its own", schema["properties"]["content"]["description"])
