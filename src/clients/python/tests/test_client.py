from __future__ import annotations

import json
import tempfile
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, Iterator, List, cast
from unittest import mock

from ctxd import Client, CtxdError, ImportedMemory, NewMemory
from ctxd._connections import Connections

from .support import URL, contents, many, new_key


class ClientTest(unittest.TestCase):
    def new_client(self, **options: Any) -> Client:
        client = Client(options.pop("key", None) or new_key(), url=URL, **options)
        self.addCleanup(client.close)
        return client

    def assert_fails(self, code: str, call: Any, *given: Any, **named: Any) -> CtxdError:
        with self.assertRaises(CtxdError) as caught:
            call(*given, **named)
        self.assertEqual(caught.exception.code, code)
        return caught.exception

    def test_lists_what_could_be_tidied_applies_a_proposal_and_undoes_it(self) -> None:
        client = self.new_client()
        saved = client.save("The demo is frozen.")
        created = datetime.fromisoformat(saved["created_at"].replace("Z", "+00:00"))
        client.update(saved["id"], expires_at=created + timedelta(days=1))
        [group] = client.tidy(kind="expiring")["groups"]
        self.assertEqual([memory["id"] for memory in group["memories"]], [saved["id"]])
        outcome = client.apply_tidy([{"id": group["id"], "action": "delete"}])
        self.assertEqual(outcome["deleted"], 1)
        self.assertEqual(client.tidy()["kinds"]["expiring"], 0)
        client.undo_tidy(outcome["undo"] or "")
        self.assertEqual(client.tidy()["kinds"]["expiring"], 1)

    def test_saves_finds_changes_and_deletes_a_memory(self) -> None:
        client = self.new_client()
        expiry = datetime(2100, 1, 1, tzinfo=timezone.utc)
        saved = client.save("Sam is allergic to peanuts", tags=["food"], expires_at=expiry)
        self.assertEqual((saved["tags"], saved["project"]), (["food"], None))
        self.assertEqual(saved["expires_at"], "2100-01-01T00:00:00.000Z")
        [found] = client.search("peanuts", tags=["food", "drink"], limit=3, explain=True)
        self.assertEqual(found["id"], saved["id"])
        self.assertGreater(found["score"], 0)
        self.assertEqual(client.get(saved["id"])["content"], saved["content"])
        changed = client.update(saved["id"], content="Sam likes peanuts", expires_at=None)
        self.assertEqual((changed["content"], changed["expires_at"]), ("Sam likes peanuts", None))
        self.assertEqual(client.stats()["memories"], 1)
        client.delete(saved["id"])
        self.assertEqual(self.assert_fails("memory_not_found", client.get, saved["id"]).status, 404)

    def test_says_what_is_wrong_with_which_field(self) -> None:
        client = self.new_client()
        error = self.assert_fails("validation_failed", client.save, "  ", importance=2)
        self.assertIn("/importance", [detail["path"] for detail in error.details])
        self.assert_fails("validation_failed", client.search, "peanuts", agnet_id="planner")

    def test_a_change_is_refused_where_another_one_came_between(self) -> None:
        client = self.new_client()
        saved = client.save("the door is green")
        changed = client.update(saved["id"], content="it is red", if_match=saved)
        self.assert_fails("precondition_failed", client.update, saved["id"], content="blue", if_match=saved)
        etag = client.etag(client.get(saved["id"]))
        self.assertEqual(etag, client.etag(changed))
        client.update(saved["id"], pinned=True, if_match=etag)
        with self.assertRaisesRegex(TypeError, "Read the memory with get"):
            client.update(saved["id"], pinned=False, if_match=cast(Any, dict(changed)))

    def test_lists_all_page_by_page(self) -> None:
        client = self.new_client()
        self.assertEqual(len(client.save_all(iter(many(520)))), 520)
        self.assertEqual(contents(client.list()), contents(many(520))[::-1])
        page = client.list_page(limit=2)
        self.assertEqual(contents(page["memories"]), ["fact 519", "fact 518"])
        following = client.list_page(limit=1, cursor=page["next_cursor"] or "")
        self.assertEqual(contents(following["memories"]), ["fact 517"])

    def test_batches_of_long_texts_are_within_the_limit_of_the_server(self) -> None:
        client = self.new_client()
        long: List[NewMemory] = [{"content": f"{number} ".ljust(32_768, "ä")} for number in range(140)]
        self.assertEqual(len(client.save_all(long)), 140)

    def test_the_same_key_saves_once(self) -> None:
        client = self.new_client()
        first = client.save_all(many(300), idempotency_key="import-1")
        again = client.save_all(many(300), idempotency_key="import-1")
        self.assertEqual([each["id"] for each in first], [each["id"] for each in again])
        self.assertEqual(client.stats()["memories"], 300)

    def test_a_history_is_that_of_a_fact_and_is_deleted_as_a_whole(self) -> None:
        client = self.new_client()
        first = client.save("Ana lives in Porto")
        second = client.save("Ana lives in Lyon", supersedes=first["id"])
        self.assertEqual(contents(client.history(first["id"])), [second["content"], first["content"]])
        client.delete(second["id"], history=True)
        self.assertEqual(list(client.list(include_superseded=True)), [])

    def test_finds_all_about_a_person_and_deletes_it_with_a_receipt(self) -> None:
        client = self.new_client()
        anna = client.save("Anna Vidal lives in Porto")
        city = client.save("The server is in Porto")
        found = client.about("Anna Vidal")
        self.assertEqual((found["memories"][0]["id"], found["more"]), (anna["id"], 0))
        self.assertEqual(found["memories"][0]["found_by"], "text")
        receipt = client.forget([anna["id"]], about="Anna Vidal")
        self.assertEqual((receipt["deleted"], receipt["about"]), (1, "Anna Vidal"))
        self.assertIsNone(client.forget([anna["id"]])["about"])
        self.assertEqual(contents(client.list()), [city["content"]])
        self.assert_fails("validation_failed", client.forget, [])

    def test_finds_what_was_known_at_a_time(self) -> None:
        client = self.new_client()
        first, second = (f"mem_{number:032x}" for number in (1, 2))
        memories: List[ImportedMemory] = [
            {"id": first, "content": "Ana lives in Porto", "created_at": "2020-01-01"},
            {"id": second, "content": "Ana lives in Lyon", "created_at": "2020-01-03", "supersedes": first},
        ]
        self.assertEqual(client.import_(memories)["created"], 2)
        then = datetime(2020, 1, 2, tzinfo=timezone.utc)
        porto = ["Ana lives in Porto"]
        self.assertEqual(contents(client.list(as_of=then)), porto)
        self.assertEqual(contents(client.search("Where does Ana live?", as_of=then)), porto)
        self.assertEqual(contents(client.history(second, as_of=then)), porto)
        self.assertEqual(list(client.list(as_of="2019-12-31")), [])

    def test_its_project_is_that_of_every_call_that_names_no_other(self) -> None:
        key = new_key()
        everything = self.new_client(key=key)
        atlas = self.new_client(key=key, project="atlas")
        atlas.save("of atlas")
        atlas.save_all([{"content": "of both", "project": None}, {"content": "of zeus", "project": "zeus"}])
        self.assertEqual(sorted(contents(atlas.list())), ["of atlas", "of both"])
        self.assertEqual(contents(atlas.list(project_only=True)), ["of atlas"])
        self.assertEqual(sorted(contents(atlas.list(project="zeus"))), ["of both", "of zeus"])
        self.assertEqual(len(list(atlas.list(project=None))), 3)
        self.assertEqual(contents(atlas.export()), ["of atlas", "of both"])
        self.assertEqual(atlas.delete_where(created_before=datetime(2100, 1, 1)), 1)
        self.assertEqual(sorted(contents(everything.list())), ["of both", "of zeus"])

    def test_deletes_no_more_than_was_said(self) -> None:
        client = self.new_client(project="atlas")
        client.save_all(many(3))
        with self.assertRaisesRegex(TypeError, "An empty filter"):
            client.delete_where()
        empty: Dict[str, Any]
        for empty in ({"tags": []}, {"agent_id": None}, {"tags": iter(())}, {"tags": ""}):
            with self.assertRaises(TypeError):
                client.delete_where(project="atlas", **empty)
        with self.assertRaisesRegex(ValueError, "comma"):
            client.delete_where(tags=["a,b"])
        self.assert_fails("validation_failed", client.delete_where, tag="a")
        for id in ("", "..", "search", "export"):
            self.assert_fails("memory_not_found", client.delete, id)
        self.assertEqual(client.stats()["memories"], 3)

    def test_what_is_exported_is_imported_elsewhere_unchanged(self) -> None:
        client, other = self.new_client(), self.new_client()
        client.save_all(many(700))
        report = other.import_(client.export())
        self.assertEqual((report["created"], report["skipped"]), (700, []))
        self.assertEqual(other.import_(client.export())["unchanged"], 700)
        exported = [{**memory, "source": None} for memory in client.export()]
        self.assertEqual([{**memory, "source": None} for memory in other.export()], exported)

    def test_imports_texts_files_and_what_a_generator_makes(self) -> None:
        client = self.new_client()
        lines = [json.dumps(memory) for memory in many(600)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "memories.jsonl")
            path.write_text("\n".join(lines))
            self.assertEqual(client.import_(path, dry_run=True)["created"], 600)
            with path.open("rb") as file:
                self.assertEqual(client.import_(file)["created"], 600)
            self.assertEqual(client.import_(path.read_text())["unchanged"], 600)

        def made() -> Iterator[ImportedMemory]:
            for number in range(600):
                yield {"content": f"made {number}" if number != 500 else ""}

        report = client.import_(made())
        self.assertEqual((report["created"], report["invalid"]), (599, 1))
        self.assertEqual([skipped["line"] for skipped in report["skipped"]], [501])
        for wrong in ({"content": "one"}, [1]):
            with self.assertRaises(TypeError):
                client.import_(cast(Any, wrong))

    def test_who_leaves_an_export_early_ends_it(self) -> None:
        client = self.new_client()
        client.save_all(many(300))
        stream = client.export()
        self.assertEqual(next(stream)["content"], "fact 0")
        stream.close()
        self.assertEqual(client.stats()["memories"], 300)

    def test_uses_connections_again(self) -> None:
        client = self.new_client()
        patch = mock.patch.object(Connections, "_open", autospec=True, side_effect=Connections._open)
        opened = patch.start()
        self.addCleanup(patch.stop)
        for content in contents(many(5)):
            client.save(content)
        self.assertEqual(contents(client.export()), contents(many(5)))
        self.assert_fails("memory_not_found", client.get, "mem_0")
        client.stats()
        opened.assert_called_once()
