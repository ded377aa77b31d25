from __future__ import annotations

import asyncio
import unittest
from typing import Any, TypedDict, cast

from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

from ctxd import Client
from ctxd.langgraph import CtxdStore

from .support import URL, contents, new_key


class CtxdStoreTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = Client(new_key(), url=URL)
        self.addCleanup(self.client.close)
        self.store = CtxdStore(self.client)

    def test_puts_gets_changes_and_deletes_an_item(self) -> None:
        value = {"text": "Ana is allergic to peanuts", "kind": "diet"}
        self.store.put(("users", "ana"), "food", value)
        [memory] = self.client.list()
        self.assertEqual(memory["content"], value["text"])
        item = self.store.get(("users", "ana"), "food")
        assert item
        self.assertEqual((item.key, item.namespace, item.value), ("food", ("users", "ana"), value))
        self.assertIsNotNone(item.created_at.tzinfo)
        self.store.put(("users", "ana"), "food", {"text": "Ana likes peanuts"})
        changed = self.store.get(("users", "ana"), "food")
        self.assertEqual(changed and changed.value, {"text": "Ana likes peanuts"})
        self.assertEqual(self.client.stats()["memories"], 1)
        self.assertIsNone(self.store.get(("users",), "food"))
        self.store.delete(("users", "ana"), "food")
        self.store.delete(("users", "ana"), "food")
        self.assertIsNone(self.store.get(("users", "ana"), "food"))
        self.assertEqual(self.client.stats()["memories"], 0)
        self.store.put(("users", "ana"), "food", value)
        self.assertIsNotNone(self.store.get(("users", "ana"), "food"))

    def test_keeps_values_of_any_shape(self) -> None:
        values: list[dict[str, Any]] = [
            {},
            {"n": 1, "list": [1, None, {"a": "ü"}]},
            {"content": "   "},
            {"text": "of a field", "other": "x" * 5_000},
            {"title": "The title", "content": "The content"},
        ]
        for number, value in enumerate(values):
            self.store.put(("values",), str(number), value)
            item = self.store.get(("values",), str(number))
            self.assertEqual(item and item.value, value)
        self.store.put(("values",), "4", values[4], index=["title"])
        self.assertIn("The title", contents(self.client.list()))

    def test_two_items_that_say_the_same_are_two(self) -> None:
        self.store.put(("a",), "1", {"text": "the same"})
        self.store.put(("a",), "2", {"text": "the same"})
        self.assertEqual(sorted(item.key for item in self.store.search(("a",))), ["1", "2"])

    def test_finds_by_meaning_and_by_filter_under_a_prefix(self) -> None:
        for user, number, text in [
            ("ana", 1, "likes red wine"),
            ("ana", 2, "drives a car"),
            ("bo", 3, "red shoes"),
        ]:
            self.store.put(
                ("users", user), str(number), {"text": text, "number": number, "deep": {"user": user}}
            )
        best = self.store.search(("users", "ana"), query="red wine")
        self.assertEqual(best[0].key, "1")
        assert best[0].score is not None
        self.assertNotIn("3", [item.key for item in best])
        self.assertEqual(
            {item.key for item in self.store.search(("users",), query="red", limit=2)}, {"1", "3"}
        )

        def keys(filter: dict[str, Any], **options: Any) -> list[str]:
            return sorted(item.key for item in self.store.search(("users",), filter=filter, **options))

        self.assertEqual(keys({"number": 2}), ["2"])
        self.assertEqual(keys({"number": {"$gte": 2, "$lt": 3}}), ["2"])
        self.assertEqual(keys({"number": {"$ne": 2}}), ["1", "3"])
        self.assertEqual(keys({"deep": {"user": "ana"}}, query="red"), ["1", "2"])
        self.assertEqual(keys({"number": {"$gt": "text"}}), [])
        self.assertEqual(keys({"absent": None}), ["1", "2", "3"])
        with self.assertRaises(ValueError):
            keys({"number": {"$like": 2}})
        pages = [self.store.search(("users",), limit=2, offset=offset) for offset in (0, 2)]
        self.assertEqual([item.key for page in pages for item in page], ["3", "2", "1"])
        self.assertEqual(self.store.search(("us",)), [])
        self.assertEqual(len(self.store.search(())), 3)

    def test_lists_namespaces(self) -> None:
        for namespace in [("a", "b", "c"), ("a", "b"), ("a:b",), ("a%3Ab",), ("x", "b", "c")]:
            self.store.put(namespace, "key", {"text": "/".join(namespace)})
        self.assertEqual(len(self.store.list_namespaces()), 5)
        self.assertEqual(self.store.list_namespaces(prefix=("a",)), [("a", "b"), ("a", "b", "c")])
        self.assertEqual(self.store.list_namespaces(suffix=("*", "c")), [("a", "b", "c"), ("x", "b", "c")])
        self.assertEqual(self.store.list_namespaces(prefix=("*", "b"), max_depth=1), [("a",), ("x",)])
        self.assertEqual(self.store.list_namespaces(limit=1, offset=1), [("a", "b", "c")])
        self.assertEqual(self.store.search(("a.b",)), [])
        self.assertEqual([item.namespace for item in self.store.search(("a:b",))], [("a:b",)])

    def test_a_batch_reads_what_was_before_it(self) -> None:
        self.store.put(("a",), "1", {"text": "before"})
        results = self.store.batch(
            [
                PutOp(("a",), "1", {"text": "between"}),
                GetOp(("a",), "1"),
                PutOp(("a",), "1", {"text": "after"}),
                SearchOp(("a",)),
                ListNamespacesOp((MatchCondition("prefix", ("a",)),)),
                *[PutOp(("b",), str(number), {"text": f"{number}"}) for number in range(30)],
            ]
        )
        self.assertEqual([results[0], results[2], results[4]], [None, None, [("a",)]])
        self.assertEqual(cast(Item, results[1]).value, {"text": "before"})
        item = self.store.get(("a",), "1")
        self.assertEqual(item and item.value, {"text": "after"})
        self.assertEqual(len(self.store.search(("b",), limit=100)), 30)
        with self.assertRaises(InvalidNamespaceError):
            self.store.batch([PutOp((), "1", {"text": "nowhere"})])
        with self.assertRaises(InvalidNamespaceError):
            self.store.put(("a.b",), "1", {})

    def test_several_put_the_same_item_at_once(self) -> None:
        async def put() -> None:
            await asyncio.gather(*(self.store.aput(("a",), "1", {"text": "it", "n": n}) for n in range(8)))

        asyncio.run(put())
        self.assertEqual(self.client.stats()["memories"], 1)

    def test_keeps_to_its_clients_project(self) -> None:
        key = new_key()
        clients = [self.enterContext(Client(key, url=URL, project=name)) for name in ("atlas", "zeus")]
        atlas, zeus = map(CtxdStore, clients)
        atlas.put(("a",), "1", {"text": "of atlas"})
        zeus.put(("a",), "1", {"text": "of zeus"})
        zeus.delete(("a",), "1")
        self.assertEqual([item.value["text"] for item in atlas.search(("a",))], ["of atlas"])
        self.assertIsNone(zeus.get(("a",), "1"))

    def test_a_graph_remembers(self) -> None:
        class State(TypedDict):
            said: str
            known: list[str]

        async def recall(state: State, runtime: Runtime[None]) -> dict[str, Any]:
            assert runtime.store
            items = await runtime.store.asearch(("users", "ana"), query=state["said"])
            await runtime.store.aput(("users", "ana"), state["said"], {"text": state["said"]})
            return {"known": [item.value["text"] for item in items]}

        graph = (
            StateGraph(State).add_node("recall", recall).add_edge(START, "recall").compile(store=self.store)
        )

        async def run() -> list[str]:
            await graph.ainvoke({"said": "I am allergic to peanuts", "known": []})
            known: list[str] = (await graph.ainvoke({"said": "peanuts?", "known": []}))["known"]
            return known

        self.assertEqual(asyncio.run(run()), ["I am allergic to peanuts"])
