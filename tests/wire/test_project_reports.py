"""Each public report of a refused payload: what we send instead.

`cases/reports.jsonl` holds one report a line: where it was reported, a sentence on what it shows, and a minimal
transcript. The expectations are predicates, here, one function per report.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.wire import project
from sidecar.wire.base import Projected
from sidecar.wire.registry import vendor_ids
from tests.wire.flat import Step, assert_json, assert_paired, flat, messages_of, system_of, text_of
from tests.wire.neutral import VENDORS, items_of, options_of

REPORTS = [json.loads(line) for line in (Path(__file__).parent / "cases" / "reports.jsonl").read_text().splitlines()]


class Sent:
    """One projected report, and short names for what its expectation asks."""

    def __init__(self, vendor: str, projected: Projected) -> None:
        self.vendor = vendor
        self.projected = projected
        self.body = projected.body
        self.steps = flat(vendor, projected.body)

    def of(self, kind: str) -> list[Step]:
        return [step for step in self.steps if step.kind == kind]

    def texts(self, *roles: str) -> list[str]:
        return [step.value for step in self.of("text") if not roles or step.role in roles]

    @property
    def roles(self) -> list[str]:
        return [message.get("role", message.get("type", "")) for message in messages_of(self.body)]

    def rules(self, *severities: str) -> set[str]:
        return {loss.rule for loss in self.projected.losses if not severities or loss.severity in severities}

    def repaired(self, rule: str, action: str) -> bool:
        return any(repair.rule == rule and repair.action == action for repair in self.projected.repairs)


Expectation = Callable[[Sent], None]
EXPECTATIONS: dict[str, Expectation] = {}


def report(*ids: str) -> Callable[[Expectation], Expectation]:
    """Register what is expected of these reports."""

    def register(expectation: Expectation) -> Expectation:
        for report_id in ids:
            EXPECTATIONS[report_id] = expectation
        return expectation

    return register


@report("W001")
def orphan_goes_pair_stays(sent: Sent) -> None:
    assert [step.id for step in sent.of("result")] == ["toolu_02"]
    assert sent.roles[0] == "user"
    assert "X2" in sent.rules("warning")


@report("W003", "W004", "W006", "W007")
def orphans_go(sent: Sent) -> None:
    assert sent.of("result") == []
    assert "X2" in sent.rules("warning")
    assert sent.texts("user")[-1] in ("continue", "no", "thanks", "next")
    if sent.vendor == "azure-openai":
        assert sent.texts("assistant") == ["both are there"]


@report("W008")
def missing_response_is_made(sent: Sent) -> None:
    calls, results = sent.of("call"), sent.of("result")
    assert len(calls) == len(results) == 2
    assert [result.error for result in results] == [False, True]
    assert sent.repaired("X1", "synthesized")


@report("W010", "W016")
def text_beside_the_open_call_stays(sent: Sent) -> None:
    assert sent.texts("assistant") in (["let me run it"], ["a moment"])
    assert sent.texts("user")[-1] in ("/continue", "stop that")
    assert len(sent.of("result")) == 1
    assert sent.repaired("X1", "synthesized")


@report("W012")
def two_results_are_made_before_the_user_text(sent: Sent) -> None:
    assert sent.roles == ["user", "assistant", "tool", "tool", "user"]
    assert [step.id for step in sent.of("result")] == ["call_a", "call_b"]


@report("W014")
def results_are_made_behind_the_real_one(sent: Sent) -> None:
    assert [(step.id, step.value == "ok") for step in sent.of("result")] == [("c1", True), ("c2", False), ("c3", False)]
    assert sent.roles == ["user", "assistant", "tool", "tool", "tool", "user"]


@report("W019")
def late_text_stands_behind_the_result(sent: Sent) -> None:
    assert [step.kind for step in sent.steps] == ["text", "call", "result", "text", "text"]
    assert sent.texts("assistant") == ["once more"]
    assert sent.repaired("X1", "moved")


@report("W021")
def notice_moves_behind_the_result(sent: Sent) -> None:
    assert sent.roles == ["user", "assistant", "tool", "system", "user"]
    assert sent.texts("system") == ["a linter has a remark"]


@report("W022")
def all_results_share_one_message(sent: Sent) -> None:
    assert sent.roles == ["user", "assistant", "user"]
    assert {step.message for step in sent.of("result")} == {2}
    assert sent.texts("user") == ["q", "sum"]


@report("W024")
def anything_is_a_result(sent: Sent) -> None:
    assert sent.of("result")[0].value == [{"text": "<<unparsable>>"}]
    assert sent.texts("user") == ["q"]


@report("W025")
def parallel_calls_pair(sent: Sent) -> None:
    assert [step.id for step in sent.of("result")] == ["c1", "c2"]


@report("W026")
def one_response_turn_per_call_turn(sent: Sent) -> None:
    assert sent.roles == ["user", "model", "user", "model", "user"]
    assert len(sent.of("result")) == 1


@report("W028")
def shared_id_becomes_two(sent: Sent) -> None:
    first, second = sent.of("call")
    assert first.id == "toolu_d" and second.id != "toolu_d"
    assert [text_of(step.value) for step in sent.of("result")] == ["r1", "r2"]
    assert sent.repaired("X3", "rewritten")


@report("W030")
def one_result_per_call(sent: Sent) -> None:
    assert len(sent.of("result")) == 1
    assert "X3" in sent.rules("warning")


@report("W032", "W097")
def there_is_a_user_message(sent: Sent) -> None:
    assert "user" in sent.roles
    assert sent.texts("system") == ["be brief"]


@report("W033")
def foreign_id_is_mapped(sent: Sent) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_-]+", sent.of("call")[0].id or "")
    assert sent.repaired("X4", "rewritten")


@report("W035")
def id_has_nine_characters(sent: Sent) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9]{9}", sent.of("call")[0].id or "")


@report("W038")
def id_has_forty_characters(sent: Sent) -> None:
    assert 0 < len(sent.of("call")[0].id or "") <= 40


@report("W039")
def missing_id_is_minted(sent: Sent) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9_.:-]{1,64}", sent.of("call")[0].id or "")


@report("W040", "W042")
def no_item_ids_but_the_vendors_own(sent: Sent) -> None:
    assert all("id" not in item for item in messages_of(sent.body))
    assert len(sent.of("call")) == 1


@report("W044")
def thinking_must_be_off(sent: Sent) -> None:
    assert sent.of("reasoning") == []
    assert "X13" in sent.rules("warning")


@report("W046")
def thinking_is_byte_exact(sent: Sent) -> None:
    assert [step.value for step in sent.of("reasoning")] == [
        {"type": "thinking", "thinking": "caf\u00e9 \u2028 x", "signature": "sigB"},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
    ]
    assert [step.kind for step in sent.steps if step.role == "assistant"] == ["reasoning", "reasoning", "text", "call"]
    assert sent.projected.losses == ()


@report("W048")
def thinking_keeps_its_place(sent: Sent) -> None:
    kinds = [(step.message, step.kind) for step in sent.steps if step.role == "assistant"]
    assert kinds == [(1, "reasoning"), (1, "call"), (3, "reasoning"), (3, "text")]


@report("W050")
def calls_of_one_response_share_one_content(sent: Sent) -> None:
    assert {step.message for step in sent.of("call")} == {1}
    assert [bool(step.key) for step in sent.of("call")] == [True, False]


@report("W052")
def signature_goes_with_its_text(sent: Sent) -> None:
    assert sent.of("reasoning") == []
    assert "thoughtSignature" not in json.dumps(sent.body)
    assert "X13" in sent.rules("warning")


@report("W053")
def unpaired_reasoning_goes(sent: Sent) -> None:
    assert sent.of("reasoning") == []
    assert sent.texts() == ["how many?", "3", "and now?"]


@report("W055")
def reasoning_message_call(sent: Sent) -> None:
    assert [step.kind for step in sent.steps] == ["text", "reasoning", "text", "call", "result"]
    assert sent.of("reasoning")[0].value["encrypted_content"] == "gA"


@report("W057")
def encrypted_reasoning_stays_in_its_account(sent: Sent) -> None:
    assert sent.of("reasoning") == []
    assert "X13" in sent.rules()


@report("W059", "W060")
def reasoning_is_there_on_calls(sent: Sent) -> None:
    called = {step.message for step in sent.of("call")}
    assert called == {step.message for step in sent.of("reasoning") if step.key == "reasoning_content" and step.value}


@report("W061", "W062")
def no_reasoning_content(sent: Sent) -> None:
    assert "reasoning_content" not in json.dumps(sent.body)


@report("W063")
def details_come_back(sent: Sent) -> None:
    (detail,) = sent.of("reasoning")
    assert detail.value == {"type": "reasoning.encrypted", "data": "EoED", "id": "tool_1", "format": "google-gemini-v1"}
    assert detail.id == sent.of("call")[0].id


@report("W066", "W073", "W081")
def empty_message_goes(sent: Sent) -> None:
    assert all(text.strip() for text in sent.texts())
    assert sent.texts("assistant") == []
    assert len(sent.texts("user")) == 2
    if sent.vendor != "mistral":
        assert sent.roles == ["user"]


@report("W068")
def call_and_result_survive(sent: Sent) -> None:
    assert [step.kind for step in sent.steps] == ["text", "call", "result", "text"]


@report("W070")
def failed_result_has_text(sent: Sent) -> None:
    (result,) = sent.of("result")
    assert result.error and text_of(result.value).strip()


@report("W075")
def null_only_with_calls(sent: Sent) -> None:
    contents = [message["content"] for message in messages_of(sent.body) if message["role"] == "assistant"]
    assert contents == [None, ""]


@report("W076")
def null_beside_calls(sent: Sent) -> None:
    assert messages_of(sent.body)[1]["content"] is None


@report("W077", "W079")
def empty_string_beside_calls(sent: Sent) -> None:
    assert messages_of(sent.body)[1]["content"] == ""


@report("W083")
def image_goes_behind_a_bridge(sent: Sent) -> None:
    assert sent.roles == ["user", "assistant", "tool", "assistant", "user"]
    assert isinstance(messages_of(sent.body)[2]["content"], str)
    (image,) = sent.of("media")
    assert image.message == 4 and "aGk=" in text_of(image.value)


@report("W085")
def user_speaks_last(sent: Sent) -> None:
    assert sent.roles[-1] in ("user", "tool") or messages_of(sent.body)[-1].get("prefix") is True
    assert sent.texts("assistant") == ["b"]


@report("W088")
def user_speaks_first(sent: Sent) -> None:
    assert sent.roles[0] == "user"
    assert sent.of("call")[0].message == 1


@report("W090")
def one_user_message(sent: Sent) -> None:
    assert sent.roles == ["user"]
    assert sent.texts() == ["a", "b"]


@report("W091", "W092", "W094")
def one_system_message_first(sent: Sent) -> None:
    assert sent.roles.count("system") == 1 and sent.roles[0] == "system"
    assert all(first != second for first, second in zip(sent.roles, sent.roles[1:], strict=False))
    everything = "\n".join(sent.texts())
    assert "a" in everything and "b" in everything and "c" in everything


@report("W093")
def system_is_a_field(sent: Sent) -> None:
    assert system_of(sent.body) == ["a"]
    assert "system" not in sent.roles
    assert any("note" in text for text in sent.texts("user"))


@report("W099", "W101")
def arguments_are_json_text(sent: Sent) -> None:
    assert sent.of("call")[0].value == "{}"


@report("W100")
def arguments_are_objects(sent: Sent) -> None:
    for call in sent.of("call"):
        value = json.loads(call.value) if isinstance(call.value, str) else call.value
        assert isinstance(value, dict)
        expects_object = sent.vendor in ("anthropic-messages", "bedrock-converse", "gemini", "ollama")
        assert isinstance(call.value, dict) is expects_object
    assert "X7" in sent.rules("warning")


@report("W102")
def input_is_an_object(sent: Sent) -> None:
    assert sent.of("call")[0].value == {}


@report("W103")
def arguments_are_an_object(sent: Sent) -> None:
    assert sent.of("call")[0].value == {"a": 1}


@report("W105")
def result_is_a_string(sent: Sent) -> None:
    assert sent.of("result")[0].value == '{"speech": {}}'


@report("W109")
def response_names_the_function(sent: Sent) -> None:
    assert sent.of("result")[0].name == sent.of("call")[0].name == "search_kb"


@report("W112")
def names_are_cleaned_and_told(sent: Sent) -> None:
    assert [message.get("name") for message in messages_of(sent.body)] == ["Debate_Moderator", None, None]
    assert sent.repaired("X19", "rewritten")
    assert "X17" in sent.rules("info")


@report("W114")
def image_moves_to_a_user_message(sent: Sent) -> None:
    (image,) = sent.of("media")
    assert image.role == "user" and image.value["image_url"]["url"] == "https://x/y.png"
    assert all(text.strip() for text in sent.texts("assistant"))
    assert sent.repaired("X15", "moved")


@report("W116")
def assistant_text_is_a_string(sent: Sent) -> None:
    assert "input_text" not in json.dumps(sent.body)
    assert sent.texts("assistant") == ["OK"]


@report("W117")
def refusal_stays_as_text(sent: Sent) -> None:
    assert sent.texts("assistant") == ["no, sorry"]


@report("W118")
def documents_have_names_of_their_own(sent: Sent) -> None:
    names = [step.value["name"] for step in sent.of("media")]
    assert len(names) == len(set(names)) == 2
    assert all(re.fullmatch(r"[a-zA-Z0-9\-()\[\]]+(?: [a-zA-Z0-9\-()\[\]]+)*", name) for name in names)
    for step in sent.of("media"):
        assert any(text.message == step.message and text.value.strip() for text in sent.of("text"))


@report("W120")
def only_the_last_text_is_trimmed(sent: Sent) -> None:
    assert sent.texts("assistant") == ["Pong"]
    assert sent.of("reasoning")[0].value["thinking"] == "keep me "


@report("W121")
def line_break_is_trimmed(sent: Sent) -> None:
    assert sent.texts("assistant") == ["<think>"]


@report("W123")
def binary_content_stays(sent: Sent) -> None:
    assert "bin \x00 out" in text_of(sent.of("result")[0].value)
    if sent.vendor == "gemini":
        assert sent.of("call")[0].key == "AAEC/w=="
    else:
        assert "X13" in sent.rules("info")


@report("W124")
def repetition_is_told_and_not_hidden(sent: Sent) -> None:
    assert len(sent.of("call")) == 3
    assert "X22" in sent.rules("warning")


@report("W125")
def legal_id_stays(sent: Sent) -> None:
    assert sent.of("call")[0].id == "call_1__thought__Eo+/ab=="


def _cases() -> list[Any]:
    found = []
    for each in REPORTS:
        name = VENDORS.get(each["vendor"], each["vendor"])
        for vendor in [name] if name in vendor_ids() else vendor_ids():
            found.append(pytest.param(each, vendor, id=f"{each['id']}-{vendor}"))
    return found


@pytest.mark.parametrize(("case", "vendor"), _cases())
def test_report(case: dict[str, Any], vendor: str) -> None:
    """What a vendor refused in public is legal in our payload, and what was changed is told."""
    projected = project(items_of(case["messages"]), vendor, options_of(case["context"]))
    assert_json(projected.body)
    assert_paired(vendor, projected.body)
    EXPECTATIONS[case["id"]](Sent(vendor, projected))
    if projected.losses or projected.repairs:
        assert all(each.message for each in (*projected.losses, *projected.repairs))


def test_every_report_has_an_expectation() -> None:
    """No report is listed without being judged, and no expectation judges nothing."""
    assert {each["id"] for each in REPORTS} == set(EXPECTATIONS)
    assert len(REPORTS) == 73


@pytest.mark.parametrize("vendor", ["anthropic-messages", "bedrock-converse", "gemini"])
@pytest.mark.parametrize("case", REPORTS, ids=lambda each: each["id"])
def test_roles_alternate(case: dict[str, Any], vendor: str) -> None:
    """Every report, sent to a vendor of the block family, starts and ends with a user message and alternates."""
    body = project(items_of(case["messages"]), vendor, options_of({})).body
    roles = [message["role"] for message in messages_of(body)]
    assert roles[0] == roles[-1] == "user"
    assert all(first != second for first, second in zip(roles, roles[1:], strict=False))
