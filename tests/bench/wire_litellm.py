"""litellm beside us on the public reports: both payloads before the same rule judge.

    python tests/bench/wire_litellm.py [PYTHON]

litellm runs in a process of its own (in the interpreter PYTHON, where another release is to be judged), without a
network, once as it comes and once with `modify_params=True`. A report counts where its vendor has a litellm chat
provider. "raises" means that no payload came out at all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

WIRE = Path(__file__).parent.parent / "wire"
PROVIDERS = {
    "openai-chat": ("openai", "gpt-4o"),
    "azure-openai": ("azure", "gpt-4o"),
    "anthropic-messages": ("anthropic", "claude-sonnet-4-20250514"),
    "bedrock-converse": ("bedrock", "anthropic.claude-sonnet-4-20250514-v1:0"),
    "gemini": ("gemini", "gemini-2.5-pro"),
    "mistral": ("mistral", "mistral-large-latest"),
    "deepseek": ("deepseek", "deepseek-chat"),
    "kimi": ("moonshot", "kimi-k2.5"),
    "glm": ("zai", "glm-4.6"),
    "openrouter": ("openrouter", "openai/gpt-4o"),
    "ollama": ("ollama_chat", "qwen3"),
    "xai": ("xai", "grok-4"),
    "groq": ("groq", "llama-3.3-70b-versatile"),
    "cerebras": ("cerebras", "llama-3.3-70b"),
    "cohere": ("cohere_chat", "command-a-03-2025"),
    "openai-compatible": ("hosted_vllm", "some-model"),
    "qwen": ("dashscope", "qwen3-max"),
}
"""The litellm provider and a model for each vendor; Responses has no chat provider of its own."""


GEMINI_KEYS = {
    "system_instruction": "systemInstruction",
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
    "file_data": "fileData",
    "mime_type": "mimeType",
}


# --- in litellm's process ---------------------------------------------------------------------------------------------


def worker() -> None:
    """Read jobs on stdin, write one payload or one error a line."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    for line in sys.stdin:
        job = json.loads(line)
        litellm.modify_params = job["modify"]
        try:
            answer = {"body": transformed(litellm, job["provider"], job["model"], job["messages"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
        print("\n" + json.dumps(answer), flush=True)


def transformed(litellm: Any, provider: str, model: str, messages: list[dict[str, Any]]) -> Any:
    """Return the body that litellm would send."""
    if provider == "gemini":
        from litellm.llms.vertex_ai.gemini.transformation import _transform_request_body

        return _transform_request_body(
            messages=messages,
            model=model,
            optional_params={},
            custom_llm_provider="gemini",
            litellm_params={},
            cached_content=None,
        )
    if provider == "bedrock":
        return litellm.AmazonConverseConfig()._transform_request(
            model=model, messages=messages, optional_params={}, litellm_params={}, headers={}
        )
    from litellm.utils import ProviderConfigManager

    config = ProviderConfigManager.get_provider_chat_config(model=model, provider=litellm.LlmProviders(provider))
    return config.transform_request(
        model=model, messages=messages, optional_params={"max_tokens": 64}, litellm_params={}, headers={}
    )


# --- in ours ----------------------------------------------------------------------------------------------------------


def main(python: str) -> None:
    """Judge both and print the counts and the rules that litellm's payloads break."""
    sys.path.insert(0, str(WIRE.parent.parent))
    from sidecar.wire import project
    from tests.wire.neutral import VENDORS, items_of, options_of
    from tests.wire.validators import rules

    reports = [json.loads(line) for line in (WIRE / "cases" / "reports.jsonl").read_text().splitlines()]
    jobs = []
    for report in reports:
        vendor = VENDORS.get(report["vendor"], report["vendor"])
        if vendor in PROVIDERS:
            jobs.append((report, vendor))
    rows: dict[str, Counter[str]] = {}
    broken: Counter[str] = Counter()
    for modify in (False, True):
        name = "litellm, modify_params=True" if modify else "litellm"
        counts = rows[name] = Counter()
        answers = asked(python, [job(report, vendor, modify) for report, vendor in jobs])
        for (report, vendor), answer in zip(jobs, answers, strict=True):
            if "error" in answer:
                counts["raises"] += 1
                continue
            # Unknown keys are not held against it: its HTTP layer may still drop them.
            body = camel(answer["body"]) if vendor == "gemini" else answer["body"]
            found = {one.rule for one in rules.judge(vendor, body, **facts(report))} - {"X17"}
            counts["refused" if found else "clean"] += 1
            if modify:
                broken.update(found)
    counts = rows["history-sidecar"] = Counter()
    for report, vendor in jobs:
        body = project(items_of(report["messages"]), vendor, options_of(report["context"])).body
        counts["refused" if rules.judge(vendor, body, **facts(report)) else "clean"] += 1
    print(f"{len(jobs)} reports with a litellm chat provider")
    print("| | clean | refused | raises |\n|---|---|---|---|")
    for name, counts in rows.items():
        print(f"| {name} | {counts['clean']} | {counts['refused']} | {counts['raises']} |")
    print("rules broken with modify_params:", dict(broken.most_common()))


def facts(report: dict[str, Any]) -> dict[str, Any]:
    """Return what the report says of the request; thinking is off where it says nothing."""
    return {"thinking": report["context"].get("thinking", False)}


def camel(value: Any) -> Any:
    """Write Gemini's snake_case keys as the camelCase that the judge reads; the API takes both."""
    if isinstance(value, list):
        return [camel(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {GEMINI_KEYS.get(key, key): camel(part) for key, part in value.items()}


def job(report: dict[str, Any], vendor: str, modify: bool) -> dict[str, Any]:
    """Return a job in the words of litellm's own users: chat messages, thinking blocks, reasoning content."""
    provider, model = PROVIDERS[vendor]
    messages = []
    for raw in report["messages"]:
        message = {key: value for key, value in raw.items() if key not in ("reasoning", "reasoning_blocks", "is_error")}
        if "reasoning" in raw:
            message["reasoning_content"] = raw["reasoning"]
        thinking = [
            {"type": "thinking", "thinking": block.get("text", ""), "signature": block.get("signature", "")}
            for block in raw.get("reasoning_blocks", ())
            if block["kind"] == "thinking"
        ]
        if thinking:
            message["thinking_blocks"] = thinking
        messages.append(message)
    return {"provider": provider, "model": model, "messages": messages, "modify": modify}


def asked(python: str, jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run the jobs in litellm's process."""
    ran = subprocess.run(
        [python, __file__, "--worker"],
        input="\n".join(json.dumps(one) for one in jobs),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith(('{"body"', '{"error"'))]
    assert len(answers) == len(jobs), ran.stderr[-2000:]
    return answers


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        worker()
    else:
        main(*sys.argv[1:] or (sys.executable,))
