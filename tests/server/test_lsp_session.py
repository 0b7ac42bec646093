"""A generic LSP client, the one that Python editors' plug-ins are built on, drives the server unchanged."""

from __future__ import annotations

import asyncio
import sys
from typing import Any
from uuid import uuid4

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

EDITORS = ["visual-studio-code", "neovim", "emacs"]


@pytest_lsp.fixture(
    scope="module",
    params=EDITORS,
    config=ClientServerConfig(server_command=[sys.executable, "-m", "sidecar", "--store", ":memory:"]),
)
async def client(request: pytest.FixtureRequest, lsp_client: LanguageClient) -> Any:
    """A session as each editor opens it."""
    params = types.InitializeParams(
        capabilities=client_capabilities(request.param),
        client_info=types.ClientInfo(name=request.param),
        process_id=None,
    )
    lsp_client.answer = await asyncio.wait_for(lsp_client.initialize_session(params), 20)
    yield
    await asyncio.wait_for(lsp_client.shutdown_session(), 20)


async def ask(client: LanguageClient, method: str, **params: Any) -> Any:
    """Send a request of our own through the client's untyped path."""
    message_id = str(uuid4())
    future = client.protocol.send_request(method, params, msg_id=message_id)
    return await asyncio.wait_for(asyncio.wrap_future(future), 10)


@pytest.mark.asyncio(loop_scope="module")
async def test_an_editor_gets_the_sidecar_capability_and_nothing_it_would_act_on(client: LanguageClient) -> None:
    """With the editor's own capabilities in `initialize`; no document is synced with a server that reads none."""
    answer = client.answer
    assert answer.server_info.name == "history-sidecar"
    assert answer.capabilities.experimental["sidecar"]["protocolVersion"] == 1


@pytest.mark.asyncio(loop_scope="module")
async def test_methods_of_our_own_work_through_a_generic_client(client: LanguageClient) -> None:
    """Append, read, project."""
    history = f"lsp/{uuid4()}"
    entries = [{"message": {"role": "user", "content": "hello"}}]
    appended = await ask(client, "history/append", history=history, entries=entries)
    assert (appended.version, appended.len) == (1, 1)
    snapshot = await ask(client, "history/snapshot", history=history)
    assert snapshot.entries[0].message.content[0].text == "hello"
    projected = await ask(client, "wire/project", history=history, vendor="openai-chat")
    assert projected.body.messages[0].content == "hello"
    (row,) = (await ask(client, "history/versions", history=history)).data
    assert row.origin.client in EDITORS


@pytest.mark.asyncio(loop_scope="module")
async def test_errors_arrive_with_their_code(client: LanguageClient) -> None:
    """Positive domain codes pass LSP clients untouched."""
    with pytest.raises(JsonRpcException) as caught:
        await ask(client, "history/snapshot", history="absent")
    assert (caught.value.code, caught.value.data["kind"]) == (1001, "historyNotFound")


@pytest.mark.asyncio(loop_scope="module")
async def test_what_editors_send_anyway_is_harmless(client: LanguageClient) -> None:
    """Open and close notifications, configuration, trace, cancels of nothing."""
    document = types.TextDocumentItem(uri="file:///x.md", language_id="markdown", version=1, text="x")
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))
    client.text_document_did_close(
        types.DidCloseTextDocumentParams(text_document=types.TextDocumentIdentifier(uri="file:///x.md"))
    )
    client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings={}))
    client.set_trace(types.SetTraceParams(value=types.TraceValue.Messages))
    client.protocol.notify("$/cancelRequest", types.CancelParams(id="nothing"))
    assert (await ask(client, "history/len", history="absent")).isEmpty
    assert client.messages == [], "a message box was opened"
