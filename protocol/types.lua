---@meta
-- Types of the History Sidecar protocol. Generated; the source is `sidecar/contract`.

--- Add entries to the end of a history, as one change. Creates the history unless `ifVersion` forbids it.
---
--- Auto-injected entries go to the overlay of the connection, at the place where they stand.
---@class history_sidecar.AppendParams
---@field history string The name of the history.
---@field entries history_sidecar.EntryInput[] The entries, oldest first; at least one.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What an append did.
---@class history_sidecar.AppendResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field entryIds string[] Ids of the appended entries, in order; made by the server where the client sent none.

--- Apply edits in order, each seeing the result of those before, as one atomic change.
---
--- `ifVersion` is required. Editors use `setText` and `remove` only: nobody writes back an entry it has read.
---@class history_sidecar.ApplyEditsParams
---@field history string The name of the history.
---@field ifVersion integer Change only if the history is at this version; 0 means that it must not exist.
---@field edits history_sidecar.HistoryEdit[] The edits; at least one.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What the edits did.
---@class history_sidecar.ApplyEditsResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field entryIds string[] Ids of the entries that were inserted, in order.

--- The JSON text exactly as the model produced it, perhaps unfinished; an object is stored as compact JSON text.
---@alias history_sidecar.Arguments string|table<string, any>

--- A model's reply; all tool calls of one turn stay in one message.
---@class history_sidecar.AssistantMessage
---@field role "assistant" The tag.
---@field content? history_sidecar.Block[] What it said; left out, `null` and one empty text are three facts.
---@field reasoning? history_sidecar.Reasoning[] What it thought.
---@field toolCalls? history_sidecar.ToolCall[] The tools it wants to run.
---@field origin? history_sidecar.Origin Who produced it.

--- A model's reply; all tool calls of one turn stay in one message.
---@class history_sidecar.AssistantMessageInput
---@field role "assistant" The tag.
---@field content? history_sidecar.Content What it said; left out, `null` and `""` are three facts and are stored as sent.
---@field reasoning? history_sidecar.Reasoning[] What it thought.
---@field toolCalls? history_sidecar.ToolCallInput[] The tools it wants to run.
---@field origin? history_sidecar.Origin Who produced it.

--- A sound: exactly one of `data`, `url` and `blob`.
---@class history_sidecar.AudioBlock
---@field type "audio" The tag.
---@field mimeType? string Media type, such as `audio/wav`; may be left out beside a `url`.
---@field data? string The bytes, base64.
---@field url? string Where the vendor fetches it.
---@field blob? string The content hash under which the store keeps it.

--- One piece of content, tagged by `type`.
---@alias history_sidecar.Block history_sidecar.TextBlock|history_sidecar.ImageBlock|history_sidecar.FileBlock|history_sidecar.AudioBlock|history_sidecar.JsonBlock|history_sidecar.RefusalBlock|history_sidecar.VendorBlock|history_sidecar.OpaqueBlock

--- How much room there is. Values up to 1 are shares of the usable window, above 1 absolute tokens.
---@class history_sidecar.Budget
---@field window? integer The context window in tokens; needed for shares, since the sidecar does not guess it.
---@field reserveOutput? integer Tokens kept free for the answer.
---@field trigger? number Plan only above this; 0.8 where omitted.
---@field target? number Come down to this; 0.4 where omitted.

--- What the model or endpoint can do, where the caller knows better than the vendor's table.
---@class history_sidecar.Capabilities
---@field thinking? boolean Reasoning is on in this request.
---@field prefill? boolean The list may end in an assistant message.
---@field systemInTurns? boolean System messages may stand behind the first turn.
---@field toolResultImages? boolean Tool results may hold images.
---@field strictTemplate? boolean One leading system message, strict alternation of user and assistant.
---@field callIdFormat? string The form tool call ids must have.
---@field stored? boolean The vendor keeps items (Responses with `store: true`).
---@field preservedThinking? boolean The vendor checks that nothing before a reasoning block has changed.
---@field developerRole? boolean System messages are sent in the role `developer`.
---@field images? boolean The model takes images.
---@field signedCalls? boolean The first call of each step must carry a signature (Gemini 3).

--- What changed, tagged by `kind`.
---@alias history_sidecar.Change history_sidecar.EditsChange|history_sidecar.ResyncChange

--- One step of a change; edits apply in order.
---@class history_sidecar.ChangeEdit
---@field start integer 0-based index.
---@field deleteCount integer How many entries went.
---@field entries? history_sidecar.Entry[] What came in their place; left out where the subscription asked for no entries.
---@field insertCount? integer How many entries came, where `entries` is left out.

--- Who made a change.
---@class history_sidecar.ChangeOrigin
---@field local boolean True where it came through the process that tells it; an earlier process of the same client is another one.
---@field client string|nil The name the client gave itself at `initialize`.

--- Say what vendors would refuse in the entries as they are.
---@class history_sidecar.CheckParams
---@field history? string The history to check.
---@field atVersion? integer Read this version; the newest where left out.
---@field entries? history_sidecar.EntryInput[] Entries to check, in place of a history.
---@field vendors? ("openai-chat"|"openai-responses"|"anthropic-messages"|"gemini"|"bedrock-converse"|"mistral"|"deepseek"|"kimi"|"qwen"|"glm"|"openrouter"|"ollama"|"cohere"|"xai"|"groq"|"cerebras"|"azure-openai"|"openai-compatible"|string)[] The vendors; all where omitted.
---@field model? string The vendor's model id; picks the default capabilities.
---@field capabilities? history_sidecar.Capabilities What the caller knows better than the vendor's table.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What was found.
---@class history_sidecar.CheckResult
---@field version integer|nil The version that was checked; null for `entries`.
---@field violations history_sidecar.Violation[] The violations, by vendor and then by index.

--- Drop the auto-injected entries of this connection, as before each new run; no stored entry is touched.
---@class history_sidecar.ClearInjectedParams
---@field history string The name of the history.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- How many were there.
---@class history_sidecar.ClearInjectedResult
---@field dropped integer How many auto-injected entries were dropped.

--- Who is speaking.
---@class history_sidecar.ClientInfo
---@field name string A short name, such as `neovim`; its first 128 characters are kept with every change.
---@field version? string Its version.

--- Blocks, or a plain string, which means one text block.
---@alias history_sidecar.Content string|history_sidecar.Block[]

--- The cursor was not made by this method with these params: start from the beginning.
---@class history_sidecar.CursorInvalidData
---@field kind "cursorInvalid" The tag.
---@field retryable false Whether the same request can succeed later.

--- Delete a history. A tombstone keeps its version, so a stale `ifVersion` cannot bring it back.
---@class history_sidecar.DeleteParams
---@field history string The name of the history.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a delete did; deleting what does not exist is no error.
---@class history_sidecar.DeleteResult
---@field history string The name of the history.
---@field existed boolean Whether there was a history of this name.
---@field version integer The version of the tombstone it left; 0 where there was nothing to delete.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- A history has a new version. It follows the commit; the author is told as well.
---@class history_sidecar.DidChangeNotification
---@field subscriptionIds string[] The subscriptions of this connection that it answers.
---@field history string The name of the history.
---@field version integer The version.
---@field previousVersion integer The version the edits start from.
---@field len integer How many entries are stored.
---@field change history_sidecar.Change What changed.
---@field operationId string|nil The operation id of the mutation, where it had one.
---@field origin history_sidecar.ChangeOrigin Who made the change.

--- A history was deleted, or has another name now.
---@class history_sidecar.DidDeleteNotification
---@field subscriptionIds string[] The subscriptions of this connection that it answers.
---@field history string The name of the history.
---@field version integer The version of the tombstone.
---@field renamedTo string|nil The new name, where it was renamed.
---@field operationId string|nil The operation id of the mutation, where it had one.
---@field origin history_sidecar.ChangeOrigin Who did it.

--- Ask for the OpenRPC document of the server.
---@class history_sidecar.DiscoverParams
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- An OpenRPC document.
---@class history_sidecar.DiscoverResult
---@field openrpc string The version of OpenRPC.
---@field info table<string, any> Title, version, licence.
---@field methods table<string, any>[] The methods.
---@field components table<string, any> Schemas and errors.

--- One step from a version to a later one; edits apply in order.
---@class history_sidecar.Edit
---@field start integer 0-based index.
---@field deleteCount integer How many entries go.
---@field entries history_sidecar.Entry[] What comes in their place.

--- The change itself.
---@class history_sidecar.EditsChange
---@field kind "edits" The tag.
---@field edits history_sidecar.ChangeEdit[] The steps from `previousVersion` to `version`.

--- Show entries to the model as a short placeholder; the entries themselves stay whole.
---@class history_sidecar.ElideParams
---@field history string The name of the history.
---@field entryIds string[] The entries to elide; pinned ones are left alone.
---@field policy? any How to elide, kept with the marker: `{"preview": n}` keeps n characters of the start and the end. Its one key is `preview`, an integer from 0; anything else is refused.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- Which tool results a plan may elide.
---@class history_sidecar.ElidePolicy
---@field keepResults? integer The newest so many results stay; 5 where omitted.
---@field keepTurns? integer Results of the newest so many turns stay; 2 where omitted.
---@field exempt? string[] Names of tools whose results stay.
---@field clearAtLeast? integer Elide only if it frees so many tokens; 20 000 where omitted.

--- What an elision did.
---@class history_sidecar.ElideResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- What a history holds, as the server answers it: defaults are left out.
---@class history_sidecar.Entry
---@field message history_sidecar.Message The message.
---@field id? string Unique in the history; left out only by `wire/parse`, whose entries are not stored yet.
---@field agent? string Which agent produced an assistant message; left out for the primary agent.
---@field principal? string On whose authority a user message was sent.
---@field ts? integer When, Unix milliseconds; left out where `id` is.
---@field pinned? boolean Compaction planning must keep it.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.
---@field autoInjected? boolean True on an entry of this connection's overlay, which is shown but not stored.

--- The history already holds an entry with this id: make a new id, or drop the duplicate.
---@class history_sidecar.EntryExistsData
---@field kind "entryExists" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name.
---@field entryId string The id.

--- What a history holds, as a client sends it.
---@class history_sidecar.EntryInput
---@field message history_sidecar.MessageInput The message.
---@field id? string Unique in the history; made by the server where left out.
---@field agent? string Which agent produced an assistant message; `""` is the primary agent, anything else a guest.
---@field sender? string Who sent it. Runtime-only: never stored and never answered.
---@field autoInjected? boolean Injected by the runtime: kept in the connection, never stored.
---@field principal? string On whose authority a user message was sent; stored, never shown to a model.
---@field ts? integer When, Unix milliseconds; stamped by the server where left out.
---@field pinned? boolean Compaction planning must keep it.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The history has no such entry at that version.
---@class history_sidecar.EntryNotFoundData
---@field kind "entryNotFound" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name.
---@field entryId string The id.

--- `error.data`, tagged by `kind`; a kind that a client does not know is treated by `retryable`.
---@alias history_sidecar.ErrorData history_sidecar.InvalidParamsData|history_sidecar.HistoryNotFoundData|history_sidecar.HistoryExistsData|history_sidecar.VersionMismatchData|history_sidecar.InvalidNameData|history_sidecar.OperationReusedData|history_sidecar.EntryNotFoundData|history_sidecar.LimitExceededData|history_sidecar.VersionUnavailableData|history_sidecar.EntryExistsData|history_sidecar.UnknownVendorData|history_sidecar.UnprojectableData|history_sidecar.UnparsableData|history_sidecar.StorageUnavailableData|history_sidecar.StorageCorruptData|history_sidecar.StorageReadOnlyData|history_sidecar.OverloadedData|history_sidecar.CursorInvalidData

--- Write a history in a format of another tool, or in our own, which loses nothing.
---@class history_sidecar.ExportParams
---@field history string The name of the history.
---@field format "own-jsonl"|"markdown"|"claude-code"|"codex"|"opencode"|"copilot"|"gemini-cli"|"openai-chat"|"sharegpt"|"chatgpt-export"|"langchain"|"pydantic-ai"|"anthropic-messages"|"gemini"|"aider"|"gptel"|"codecompanion"|"vscode-chat"|"goose"|string The format.
---@field uri? string A `file:` URI inside an allowed folder to write to; the text is answered where omitted.
---@field atVersion? integer Read this version; the newest where left out.
---@field redact? boolean Mask well-known secrets.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The transcript, or where it was written.
---@class history_sidecar.ExportResult
---@field text string|nil The transcript, where no `uri` was given.
---@field uri string|nil Where it was written.
---@field bytes integer Its length in UTF-8.
---@field losses history_sidecar.Loss[] What the format cannot say, and what was masked.

--- A document: exactly one of `data`, `url` and `blob`.
---@class history_sidecar.FileBlock
---@field type "file" The tag.
---@field name? string The file name.
---@field mimeType? string Media type, such as `application/pdf`; may be left out beside a `url`.
---@field data? string The bytes, base64.
---@field url? string Where the vendor fetches it.
---@field blob? string The content hash under which the store keeps it.

--- A way to mend a violation: the payload of a `history/applyEdits` at the version that was checked.
---@class history_sidecar.Fix
---@field title string What it does, for a menu.
---@field edits history_sidecar.HistoryEdit[] The edits.

--- Start a new history from an old one, copy-on-write: nothing is copied, neither sees the other's changes.
---@class history_sidecar.ForkParams
---@field history string The name of the history.
---@field to string The new name; must not be taken.
---@field atVersion? integer Read this version; the newest where left out.
---@field len? integer Take only the first so many entries; all where omitted.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a fork did; `history`, `version` and `len` are those of the new history.
---@class history_sidecar.ForkResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- One edit of a history, tagged by `kind`.
---@alias history_sidecar.HistoryEdit history_sidecar.SpliceEdit|history_sidecar.SetTextEdit|history_sidecar.RemoveEdit

--- The name is taken: pick another.
---@class history_sidecar.HistoryExistsData
---@field kind "historyExists" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name.
---@field version integer The version.

--- One history, without its entries.
---@class history_sidecar.HistoryInfo
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field title string|nil A title for people.
---@field tags string[] Tags.
---@field createdAt integer When the history was made, Unix milliseconds.
---@field updatedAt integer When it last changed, Unix milliseconds.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field metadata table<string, any> Free metadata.

--- Describe one history.
---@class history_sidecar.HistoryInfoParams
---@field history string The name of the history.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- No live history has this name: append to it to make it.
---@class history_sidecar.HistoryNotFoundData
---@field kind "historyNotFound" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name.

--- A picture: exactly one of `data`, `url` and `blob`.
---@class history_sidecar.ImageBlock
---@field type "image" The tag.
---@field mimeType? string Media type, such as `image/png`; may be left out beside a `url`.
---@field data? string The bytes, base64.
---@field url? string Where the vendor fetches it.
---@field blob? string The content hash under which the store keeps it.

--- Append the entries of a transcript that another tool wrote, as one change.
---
--- A transcript longer than one call may be comes in several changes, each whole; a cancelled import leaves those that
--- were made, and the next import goes on behind them. What the tool compacted away is a version of its own.
---@class history_sidecar.ImportParams
---@field history string The name of the history.
---@field format "own-jsonl"|"markdown"|"claude-code"|"codex"|"opencode"|"copilot"|"gemini-cli"|"openai-chat"|"sharegpt"|"chatgpt-export"|"langchain"|"pydantic-ai"|"anthropic-messages"|"gemini"|"aider"|"gptel"|"codecompanion"|"vscode-chat"|"goose"|string The format, or `auto` to detect it.
---@field text? string The transcript itself.
---@field uri? string A `file:` URI inside an allowed folder.
---@field workDoneToken? history_sidecar.ProgressToken Where given, `$/progress` notifications with this token tell how far the import is.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What an import did.
---@class history_sidecar.ImportResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field format string The format that was read.
---@field entryIds string[] Ids of the imported entries, in order.
---@field losses history_sidecar.Loss[] What could not be taken over.

--- `initializationOptions.sidecar` of `initialize`; everything may be left out.
---@class history_sidecar.InitializeOptions
---@field protocolVersion? integer The protocol version the client speaks.
---@field client? history_sidecar.ClientInfo Who is speaking; shown to others as the origin of changes.
---@field store? string A SQLite file, `:memory:` or `postgresql://…`, where no `--store` was given.
---@field defaults? table<string, any> What a person configures for transcripts as documents: `{"vendors": […], "codeLens": …, "inlayHints": …}`.

--- The name breaks the grammar.
---@class history_sidecar.InvalidNameData
---@field kind "invalidName" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name, at most its first 255 characters.

--- Shape or range is wrong: correct the call.
---@class history_sidecar.InvalidParamsData
---@field kind "invalidParams" The tag.
---@field retryable false Whether the same request can succeed later.
---@field errors history_sidecar.Problem[] Every problem.

--- Structured tool content; the order of keys is kept.
---@class history_sidecar.JsonBlock
---@field type "json" The tag.
---@field value any Any JSON value, `null` included.

--- What must stay at the end.
---@class history_sidecar.KeepLast
---@field turns? integer The newest so many user turns; 2 where omitted.
---@field tokens? integer At least so many tokens.

--- Ask length and version: the mark to roll back to. An absent history is no error.
---@class history_sidecar.LenParams
---@field history string The name of the history.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- Length and version; 0, 0 and true where the history is absent.
---@class history_sidecar.LenResult
---@field len integer How many entries are stored.
---@field version integer The version.
---@field isEmpty boolean Whether there are no entries.

--- A size, depth or count is over its limit (`sidecar/info`): send less.
---@class history_sidecar.LimitExceededData
---@field kind "limitExceeded" The tag.
---@field retryable false Whether the same request can succeed later.
---@field limit string Which limit.
---@field value integer What was sent.
---@field max integer What is allowed.

--- Bounds, by the name that `limitExceeded` gives.
---@class history_sidecar.Limits
---@field headerBytes integer Length of the header of a frame.
---@field messageBytes integer Length of the body of a frame.
---@field depth integer Nesting of arrays and objects in a frame.
---@field entriesPerCall integer Entries in one call.
---@field pageSize integer Items on one page.
---@field pendingRequests integer Requests of one connection that wait for their answer.

--- List histories, a page at a time.
---@class history_sidecar.ListParams
---@field prefix? string Only names that start with this text.
---@field cursor? string Where to go on: `nextCursor` of the page before.
---@field limit? integer How many items at most.
---@field orderBy? "name"|"updatedAt"|"createdAt"|string `name` (default), or the newest first by `updatedAt` or `createdAt`.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- One page of histories.
---@class history_sidecar.ListResult
---@field data history_sidecar.HistoryInfo[] The histories.
---@field nextCursor string|nil Where the next page starts; null on the last one.

--- Something that does not come through.
---@class history_sidecar.Loss
---@field rule string The rule, such as `X3`.
---@field severity "info"|"warning"|"error"|string How bad it is.
---@field entryId string|nil The entry it is about.
---@field path string|nil JSON Pointer into the entry.
---@field message string One sentence for a person.

--- A message as the server answers it, tagged by `role`.
---@alias history_sidecar.Message history_sidecar.SystemMessage|history_sidecar.UserMessage|history_sidecar.AssistantMessage|history_sidecar.ToolMessage|history_sidecar.NoteMessage|history_sidecar.SummaryMessage

--- A message as a client sends it, tagged by `role`.
---@alias history_sidecar.MessageInput history_sidecar.SystemMessage|history_sidecar.UserMessageInput|history_sidecar.AssistantMessageInput|history_sidecar.ToolMessageInput|history_sidecar.NoteMessage|history_sidecar.SummaryMessage

--- A three-state patch: an omitted field stays, `null` clears it, a value sets it.
---@class history_sidecar.MetadataPatch
---@field title? string A title for people.
---@field tags? string[] Tags, the whole list.
---@field metadata? table<string, any> Free metadata: each key of the object is itself three-state, so `{"a": null}` removes `a`.

--- One entry that may not be dropped.
---@class history_sidecar.MustKeep
---@field id string The entry.
---@field why string `pinned`, `pair_of:ID`, `open_call`, `system`, `opaque`.

--- A note of the runtime: a run finished, an instruction changed. The model sees it as a system message.
---@class history_sidecar.NoteMessage
---@field role "note" The tag.
---@field text string The note.

--- A block of a type that this release does not know: kept whole, verbatim.
---@class history_sidecar.OpaqueBlock
---@field type string Any other type.

--- The operation id was used with other params: make a new id.
---@class history_sidecar.OperationReusedData
---@field kind "operationReused" The tag.
---@field retryable false Whether the same request can succeed later.
---@field operationId string The id.

--- Who produced an assistant message.
---@class history_sidecar.Origin
---@field vendor string The vendor id.
---@field model? string The vendor's model id.
---@field scope? string The account or endpoint.

--- One entry in one line.
---@class history_sidecar.OutlineItem
---@field id string The entry.
---@field index integer Its 0-based index.
---@field role string The role of its message.
---@field kind "text"|"toolCall"|"toolResult"|"reasoning"|"summary"|"note"|string What it mainly is; a message with tool calls is a `toolCall` whatever else it holds.
---@field line string A short plain text for one line.
---@field tokens integer|nil Estimated tokens.
---@field ts integer|nil When, Unix milliseconds.
---@field callIds string[] Ids of the tool calls it makes or answers.
---@field elided boolean Whether the model sees a placeholder.
---@field pinned boolean Whether compaction must keep it.

--- List entries one line each, for trees and pickers.
---@class history_sidecar.OutlineParams
---@field history string The name of the history.
---@field start? integer 0-based index of the first entry wanted; negative counts from the end.
---@field count? integer How many entries at most.
---@field atVersion? integer Read this version; the newest where left out.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The outline.
---@class history_sidecar.OutlineResult
---@field version integer The version.
---@field len integer How many entries are stored.
---@field data history_sidecar.OutlineItem[] The entries asked for, in order.

--- A bounded queue is full: wait, then try again.
---@class history_sidecar.OverloadedData
---@field kind "overloaded" The tag.
---@field retryable true Whether the same request can succeed later.
---@field retryAfterMs integer How long to wait.

--- Read entries out of a vendor's request or response body: the inverse of a projection.
---@class history_sidecar.ParseParams
---@field vendor "openai-chat"|"openai-responses"|"anthropic-messages"|"gemini"|"bedrock-converse"|"mistral"|"deepseek"|"kimi"|"qwen"|"glm"|"openrouter"|"ollama"|"cohere"|"xai"|"groq"|"cerebras"|"azure-openai"|"openai-compatible"|string The vendor.
---@field kind "request"|"response" What `body` is.
---@field body any The body as JSON; a stream must be joined first.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The entries, ready to be appended.
---@class history_sidecar.ParseResult
---@field entries history_sidecar.Entry[] The entries, without ids and times.
---@field losses history_sidecar.Loss[] What could not be taken over.
---@field usage table<string, any>|nil The vendor's usage object, for `history/recordInputTokens`.

--- What the plan does to a prompt cache.
---@class history_sidecar.PlanCache
---@field firstChanged integer Index of the first entry that changes.
---@field prefixTokensKept integer Tokens before it.
---@field tokensRewritten integer Tokens after it.

--- Plan a compaction: what to drop, what to keep, what it saves. Changes nothing, and same input gives same plan.
---@class history_sidecar.PlanSpliceParams
---@field history string The name of the history.
---@field budget history_sidecar.Budget How much room there is.
---@field version? integer Plan only for this version; `versionMismatch` where the history has moved.
---@field keepLast? history_sidecar.KeepLast What must stay at the end.
---@field pinned? string[] Entries to keep, beside those stored as pinned.
---@field vendor? string Picks profile, image rule and reasoning rule, with `model`.
---@field model? string The vendor's model id.
---@field summaryTokens? integer How long the summary will be; 2000 where omitted.
---@field minSavings? number Do nothing for less than this share of the window; 0.1 where omitted.
---@field force? boolean Plan although the trigger is not reached.
---@field allow? ("elide"|"step"|"fewerTurns")[] What may be relaxed, tried in this order.
---@field elide? history_sidecar.ElidePolicy What may be elided.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The plan. It is carried out by `history/splicePrefix` with `dropCount`, and `carry` = `head` + `carry`.
---
--- `vendorCompaction` is the plan of a splice too, where a splice would cost signed reasoning and the vendor's own
--- compaction keeps it: ask the vendor to compact and append its answer, with the block that it wrote, instead. A
--- client that cannot do so splices.
---@class history_sidecar.PlanSpliceResult
---@field action "none"|"elide"|"splice"|"vendorCompaction"|"impossible"|string What to do.
---@field reason "under_trigger"|"fits"|"best_effort"|"no_cut_point"|"nothing_droppable"|"savings_too_small"|"open_call_blocks"|string Why.
---@field version integer The version.
---@field dropCount integer Length of the prefix that goes, for `history/splicePrefix`.
---@field drop string[] What the summary must cover, in order.
---@field elide string[] What to elide, for `history/elide`.
---@field head string[] Leading system entries, which stay first.
---@field carry string[] Pinned entries of the prefix with their partners, which go back in before the summary.
---@field tail history_sidecar.PlanTail|nil Where the kept end starts.
---@field mustKeep history_sidecar.MustKeep[] What may not be dropped, and why.
---@field previousSummary string|nil An older summary among `drop`: merge it instead of summarising it again.
---@field summary history_sidecar.PlanSummary|nil What the summary should be.
---@field tokens history_sidecar.PlanTokens Estimates before and after.
---@field cache history_sidecar.PlanCache|nil What it does to a prompt cache.
---@field staleReasoning string[] Kept entries whose signed reasoning the vendor will no longer accept after a splice or an elision.
---@field relaxed string[] Which of `allow` was needed.
---@field shortfall integer By how many tokens the target is missed.
---@field warnings string[] What a careful client wants to know: `reasoning_lost_in_open_turn`; `pins_into_instructions`, since a vendor that compacts reads nothing before its own block, so that pinned entries belong into what it is asked for.

--- What the summary should be.
---@class history_sidecar.PlanSummary
---@field role string The role the summary is shown in.
---@field maxTokens integer How long it may be.
---@field insertAfter string|nil The entry it follows; null at the very front.

--- Where the kept end starts.
---@class history_sidecar.PlanTail
---@field first string|nil Its first entry.
---@field kind "turn"|"step"|string Whether it starts at a user turn or at a step inside one.
---@field turns integer How many user turns it holds.

--- Estimates before and after.
---@class history_sidecar.PlanTokens
---@field before integer Now.
---@field after integer After the plan.
---@field low integer Lower bound of `after`.
---@field high integer Upper bound of `after`.
---@field overhead integer What the request costs beside the history.
---@field basis "exact"|"recorded+delta"|"rebased"|"heuristic"|string How the numbers came about.

--- One thing that is wrong with params.
---@class history_sidecar.Problem
---@field path string JSON Pointer in wire names; `""` is the params object.
---@field message string What is wrong, such as `is required`.

--- What the client calls the progress of a request.
---@alias history_sidecar.ProgressToken integer|string

--- What the caller wants.
---@class history_sidecar.ProjectOptions
---@field reasoning? "auto"|"drop" `auto` sends reasoning back where it belongs, `drop` never.
---@field guests? "wrap"|"plain" Whether text of guest agents is wrapped in `<from agent="…">`.
---@field images? "keep"|"elide" Whether images are sent or replaced by a placeholder.
---@field onLoss? "report"|"error" `error` refuses to project where something would be lost.
---@field cacheMarkers? integer How many cache breakpoints to set, where the vendor has them.
---@field placeholder? table<string, string> Texts to use in place of the built-in placeholders.

--- Make the message list that a vendor accepts. Free of side effects; same input gives the same bytes.
---@class history_sidecar.ProjectParams
---@field vendor "openai-chat"|"openai-responses"|"anthropic-messages"|"gemini"|"bedrock-converse"|"mistral"|"deepseek"|"kimi"|"qwen"|"glm"|"openrouter"|"ollama"|"cohere"|"xai"|"groq"|"cerebras"|"azure-openai"|"openai-compatible"|string The vendor.
---@field history? string The history to project.
---@field atVersion? integer Read this version; the newest where left out.
---@field entries? history_sidecar.EntryInput[] Entries to project, in place of a history.
---@field model? string The vendor's model id; picks the default capabilities.
---@field scope? string The account or endpoint: encrypted or signed reasoning goes back only to the scope it came from.
---@field capabilities? history_sidecar.Capabilities What the caller knows better than the vendor's table.
---@field options? history_sidecar.ProjectOptions What the caller wants.
---@field sincePrefixOf? integer Also say how many leading wire messages equal those of the projection at this version.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The payload, and every difference between it and the stored entries.
---@class history_sidecar.ProjectResult
---@field vendor string The vendor, in its canonical id.
---@field version integer|nil The version that was projected; null for `entries`.
---@field body table<string, any> Merged by the caller into its request.
---@field losses history_sidecar.Loss[] What the model will not see.
---@field repairs history_sidecar.Repair[] What was made legal.
---@field stableMessages integer|nil How many leading wire messages equal those at `sincePrefixOf`; null where it was not given.

--- Destroy old versions and what only they hold, for ever. Nothing else ever destroys.
---
--- DELETED histories go whole, also without `keepVersions` and `before`: only a `before` spares those that were deleted
--- later. Live histories keep their newest version always, and all versions where neither is given.
---@class history_sidecar.PruneParams
---@field history? string Only this history, or what was deleted under this name; all where omitted.
---@field keepVersions? integer How many of the newest versions of a live history to keep; deleted histories go whatever it is.
---@field before? integer Only versions replaced, and histories deleted, before this time, Unix milliseconds.
---@field dryRun? boolean Say what would be freed and change nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What pruning freed, or would free.
---@class history_sidecar.PruneResult
---@field freedBytes integer Bytes of entries that no version shows any more.
---@field versionsDropped integer How many versions can no longer be read.

--- One piece of reasoning, kept byte for byte, with the origin it may be replayed to.
---@class history_sidecar.Reasoning
---@field text? string Plain text.
---@field signature? string The vendor's signature over the text.
---@field data? string Opaque bytes, such as redacted or encrypted reasoning.
---@field vendor? string The vendor that made it; that of the message's `origin` where left out.
---@field model? string The model that made it.
---@field scope? string The account or endpoint that can read it.
---@field id? string The vendor's item id.
---@field cleared? boolean The text was emptied after the vendor signed it: it may not be replayed where the vendor checks.

--- Tell how many input tokens a vendor counted for the history; it becomes the baseline of the estimate.
---@class history_sidecar.RecordInputTokensParams
---@field history string The name of the history.
---@field tokens? integer The whole input, tokens read from and written to a cache included.
---@field usage? table<string, any> The vendor's usage object as it came; the total is computed from it without counting anything twice.
---@field vendor? string Whose `usage` it is; required with it.
---@field model? string The model that counted; calibration is kept per model.
---@field atVersion? integer The version that was measured; the newest where omitted.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The estimate afterwards.
---@class history_sidecar.RecordInputTokensResult
---@field version integer The version.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.

--- The model declined, in its own words.
---@class history_sidecar.RefusalBlock
---@field type "refusal" The tag.
---@field text string The words.

--- Remove one entry.
---@class history_sidecar.RemoveEdit
---@field kind "remove" The tag.
---@field entryId string The entry.

--- Give a history another name. The old name is free afterwards.
---@class history_sidecar.RenameParams
---@field history string The name of the history.
---@field to string The new name; must not be taken.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a rename did; `history` is the new name.
---@class history_sidecar.RenameResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- Render entries for people; transcript text is escaped.
---@class history_sidecar.RenderParams
---@field history string The name of the history.
---@field format? "markdown"|"html" The format.
---@field start? integer 0-based index of the first entry wanted; negative counts from the end.
---@field count? integer How many entries at most.
---@field atVersion? integer Read this version; the newest where left out.
---@field redact? boolean Mask well-known secrets.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The text and where each entry is in it.
---@class history_sidecar.RenderResult
---@field version integer The version.
---@field text string The rendered text.
---@field map history_sidecar.RenderedEntry[] Where each entry is, in order.

--- Which lines show an entry.
---@class history_sidecar.RenderedEntry
---@field entryId string The entry.
---@field startLine integer 0-based first line.
---@field endLine integer 0-based line behind the last one.

--- A change that made the list legal and lost nothing the model needs.
---@class history_sidecar.Repair
---@field rule string The rule, such as `X1`.
---@field entryId string|nil The entry it is about.
---@field action "dropped"|"merged"|"synthesized"|"moved"|"rewritten"|string What was done.
---@field message string One sentence for a person.

--- Put a new list of entries in place of the whole history. The token baseline is reset.
---@class history_sidecar.ReplaceParams
---@field history string The name of the history.
---@field entries history_sidecar.EntryInput[] The new entries; may be empty.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a replace did.
---@class history_sidecar.ReplaceResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field entryIds string[] Ids of the new entries, in order.

--- The receiver was slow: read with `sinceVersion`.
---@class history_sidecar.ResyncChange
---@field kind "resync" The tag.

--- Make a new version that has the content of an older one, so that a compaction can be undone.
---@class history_sidecar.RevertParams
---@field history string The name of the history.
---@field toVersion integer The version whose content comes back.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a revert did.
---@class history_sidecar.RevertResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- One entry that matches.
---@class history_sidecar.SearchHit
---@field history string The name of the history.
---@field entryId string The entry.
---@field index integer Its 0-based index in the newest version.
---@field snippet string A piece of its text around the match, plain text.
---@field rank number Higher is better; comparable within one answer only.

--- Find entries by full text. Tool arguments, and results of entries marked private, are never indexed.
---@class history_sidecar.SearchParams
---@field query string Words that must all occur; `"quoted words"` must occur side by side.
---@field prefix? string Only histories whose names start with this text.
---@field cursor? string Where to go on: `nextCursor` of the page before.
---@field limit? integer How many items at most.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- One page of hits, best first.
---@class history_sidecar.SearchResult
---@field data history_sidecar.SearchHit[] The hits.
---@field nextCursor string|nil Where the next page starts; null on the last one.

--- The server.
---@class history_sidecar.ServerInfo
---@field name string `history-sidecar`.
---@field version string Its version.

--- Change title, tags and metadata of a history. The version stays.
---@class history_sidecar.SetMetadataParams
---@field history string The name of the history.
---@field patch history_sidecar.MetadataPatch What to change.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The history afterwards: the fields of `HistoryInfo`, and `replayed`.
---@class history_sidecar.SetMetadataResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field title string|nil A title for people.
---@field tags string[] Tags.
---@field createdAt integer When the history was made, Unix milliseconds.
---@field updatedAt integer When it last changed, Unix milliseconds.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field metadata table<string, any> Free metadata.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- Give one text of one entry a new value; everything else of the entry stays byte for byte.
---@class history_sidecar.SetTextEdit
---@field kind "setText" The tag.
---@field entryId string The entry.
---@field text string The new text.
---@field block? integer Index of the content block, which must be text; the only text block where omitted.

--- `capabilities.experimental.sidecar` in the answer to `initialize`.
---@class history_sidecar.SidecarCapabilities
---@field protocolVersion integer The protocol version the server speaks.
---@field history table<string, any> One key per `history/*` method, without the noun; `{}` means supported.
---@field wire history_sidecar.WireCapability What projection can do.
---@field store history_sidecar.StoreInfo Where histories are kept.
---@field limits history_sidecar.Limits Bounds.

--- Ask what `initialize` told, at any time.
---@class history_sidecar.SidecarInfoParams
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The server, its store, its vendors, its estimators, its limits.
---@class history_sidecar.SidecarInfoResult
---@field protocolVersion integer The protocol version the server speaks.
---@field server history_sidecar.ServerInfo The server.
---@field store history_sidecar.StoreInfo Where histories are kept.
---@field vendors string[] Ids of the vendors; `wire/vendors` says more.
---@field estimators string[] Ids for `history/tokenEstimate`.
---@field formats string[] Ids for `history/import` and `history/export`.
---@field limits history_sidecar.Limits Bounds.

--- What changed since `fromVersion`.
---@class history_sidecar.SnapshotDelta
---@field kind "delta" The tag.
---@field version integer The version.
---@field fromVersion integer The version the edits start from.
---@field len integer How many entries are stored.
---@field edits history_sidecar.Edit[] The changes, in order.

--- Entries themselves.
---@class history_sidecar.SnapshotFull
---@field kind "full" The tag.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field start integer Index of the first entry in `entries`.
---@field entries history_sidecar.Entry[] The entries; fewer than asked where the message limit would be passed: ask again with `atVersion`.

--- Read entries: all of them, a window, an older version, or only what changed since a version one holds.
---@class history_sidecar.SnapshotParams
---@field history string The name of the history.
---@field start? integer 0-based index of the first entry wanted; negative counts from the end.
---@field count? integer How many entries at most.
---@field sinceVersion? integer The version the client holds: answer `unchanged` or a `delta` where possible.
---@field atVersion? integer Read this version; the newest where left out.
---@field references? boolean Leave large pictures, files and audio out: such a block has `blob`, their hash, in place of `data`.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a snapshot answers, tagged by `kind`; a client accepts any kind.
---@alias history_sidecar.SnapshotResult history_sidecar.SnapshotFull|history_sidecar.SnapshotDelta|history_sidecar.SnapshotUnchanged

--- The client holds the newest version.
---@class history_sidecar.SnapshotUnchanged
---@field kind "unchanged" The tag.
---@field version integer The version.
---@field len integer How many entries are stored.

--- Remove `deleteCount` entries at `start` and insert `entries` there.
---@class history_sidecar.SpliceEdit
---@field kind "splice" The tag.
---@field start integer 0-based index.
---@field deleteCount integer How many entries to remove.
---@field entries history_sidecar.EntryInput[] What to insert.

--- Put one summary in place of the first `dropCount` entries: compaction. What is dropped stays readable.
---@class history_sidecar.SplicePrefixParams
---@field history string The name of the history.
---@field dropCount integer How many stored entries to drop from the front; clamped to the length.
---@field summary history_sidecar.SummaryInput What takes their place: an entry, a message of any role, or a plain string, which means a `summary` message.
---@field align? "exact"|"turn" `exact` cuts where asked and warns when a tool call and its result were parted; `turn` moves the cut back to the start of a turn.
---@field carry? string[] Ids of dropped entries to insert again, verbatim and in history order, before the summary.
---@field ifPrefix? integer The dropped prefix must still be what it was at this version; entries appended behind it are fine.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a splice did.
---@class history_sidecar.SplicePrefixResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field dropped integer How many entries left the front, those in `carry` included.
---@field warnings history_sidecar.SpliceWarning[] What the cut broke, if anything.

--- Something a careful client wants to know about a splice that was carried out.
---@class history_sidecar.SpliceWarning
---@field kind "pairSplit"|"turnSplit"|string What was noticed.
---@field entryId string|nil The entry it is about.
---@field message string One sentence for a person.

--- Stored bytes do not read back; other histories keep working.
---@class history_sidecar.StorageCorruptData
---@field kind "storageCorrupt" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string|nil The history, where it is one.
---@field detail string What was found.

--- The disk is full or the medium read-only; nothing was changed.
---@class history_sidecar.StorageReadOnlyData
---@field kind "storageReadOnly" The tag.
---@field retryable false Whether the same request can succeed later.

--- The lock timed out, or the database is down: try again with the same operation id.
---@class history_sidecar.StorageUnavailableData
---@field kind "storageUnavailable" The tag.
---@field retryable true Whether the same request can succeed later.
---@field engine string The engine.

--- Where histories are kept.
---@class history_sidecar.StoreInfo
---@field engine "memory"|"sqlite"|"postgresql"|string The engine.
---@field shared boolean Whether other processes may open the same store.

--- Ask to be told of every change of one history, or of all whose names start with a prefix.
---@class history_sidecar.SubscribeParams
---@field history? string One history; it need not exist yet.
---@field prefix? string All histories whose names start with this text; `""` means all.
---@field entries? boolean Whether changes carry the new entries; without them, only how many there are.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The subscription.
---@class history_sidecar.SubscribeResult
---@field subscriptionId string Its id.
---@field version integer|nil Changes after this version follow without a gap; null for a prefix.

--- An entry, a message of any role, or a plain string, which means a `summary` message.
---@alias history_sidecar.SummaryInput string|history_sidecar.EntryInput|history_sidecar.MessageInput

--- What a compaction put in place of older entries; each vendor shows it in its own legal way.
---@class history_sidecar.SummaryMessage
---@field role "summary" The tag.
---@field text string The summary.
---@field covers? integer How many entries it stands for.

--- An instruction of the application.
---@class history_sidecar.SystemMessage
---@field role "system" The tag.
---@field text string The instruction.

--- Plain text.
---@class history_sidecar.TextBlock
---@field type "text" The tag.
---@field text string The text; may be empty.

--- Estimate how many input tokens the history costs, without a network.
---@class history_sidecar.TokenEstimateParams
---@field history string The name of the history.
---@field estimator? string An id from `sidecar/info`; the default where omitted.
---@field vendor? string Picks the profile, with `model`.
---@field model? string The vendor's model id.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The estimate, and how it came about.
---@class history_sidecar.TokenEstimateResult
---@field version integer The version.
---@field tokens integer|nil The estimate; null only for an empty or absent history without a baseline.
---@field estimator string The estimator that was used.
---@field baseline integer|nil The last recorded total.
---@field delta integer Estimated tokens of what came after it.
---@field low integer|nil Lower bound that the estimator stands for.
---@field high integer|nil Upper bound.
---@field basis "exact"|"recorded+delta"|"rebased"|"heuristic"|string `exact`, `recorded+delta`, `rebased` (kept through a splice) or `heuristic`.
---@field overhead integer Tokens of the request that are not in the history: tools, system parameter.
---@field ratio number Calibration: counted by the vendor over estimated.
---@field profile string|nil The tokenizer profile that was used.

--- A request of the model to run a tool.
---@class history_sidecar.ToolCall
---@field id string The call id that the result names.
---@field name string The tool.
---@field arguments string The JSON text exactly as the model produced it, perhaps unfinished.
---@field signature? string The vendor's signature over the call.
---@field itemId? string The vendor's item id.

--- A request of the model to run a tool.
---@class history_sidecar.ToolCallInput
---@field id string The call id that the result names.
---@field name string The tool.
---@field arguments? history_sidecar.Arguments The arguments; left out where there are none.
---@field signature? string The vendor's signature over the call.
---@field itemId? string The vendor's item id.

--- The result of one tool call.
---@class history_sidecar.ToolMessage
---@field role "tool" The tag.
---@field callId string The id of the call that it answers.
---@field content history_sidecar.Block[] What came out.
---@field name? string The tool.
---@field isError? boolean The tool failed; left out where it did not.

--- The result of one tool call.
---@class history_sidecar.ToolMessageInput
---@field role "tool" The tag.
---@field callId string The id of the call that it answers.
---@field content history_sidecar.Content What came out.
---@field name? string The tool.
---@field isError? boolean The tool failed.

--- Cut the history back. A `len` at or above the length changes nothing and keeps version and baseline.
---@class history_sidecar.TruncateParams
---@field history string The name of the history.
---@field len? integer How many entries to keep.
---@field afterEntry? string Keep everything up to and including this entry.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What a truncate did.
---@class history_sidecar.TruncateResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.
---@field dropped integer How many entries left the end.

--- Take elision markers away, so that the entries are shown whole again.
---@class history_sidecar.UnelideParams
---@field history string The name of the history.
---@field entryIds string[] The entries to show again.
---@field ifVersion? integer Change only if the history is at this version; 0 means that it must not exist.
---@field operationId? string A key the client makes: a repeat with equal params answers the first result and changes nothing.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- What it did.
---@class history_sidecar.UnelideResult
---@field history string The name of the history.
---@field version integer The version.
---@field len integer How many entries are stored.
---@field tokenEstimate integer|nil Estimated input tokens; null where there is nothing to estimate.
---@field replayed boolean The answer of an earlier request with the same `operationId`; nothing was changed now.

--- No vendor has this id.
---@class history_sidecar.UnknownVendorData
---@field kind "unknownVendor" The tag.
---@field retryable false Whether the same request can succeed later.
---@field vendor string The id.
---@field known string[] The ids there are.

--- The text or body is nothing like the format.
---@class history_sidecar.UnparsableData
---@field kind "unparsable" The tag.
---@field retryable false Whether the same request can succeed later.
---@field path string JSON Pointer or line.
---@field message string What is wrong.

--- Something would be lost and `onLoss` is `error`, or no rule can repair the list.
---@class history_sidecar.UnprojectableData
---@field kind "unprojectable" The tag.
---@field retryable false Whether the same request can succeed later.
---@field violations table<string, any>[] What stands in the way.

--- End a subscription; no notification for it follows the answer.
---@class history_sidecar.UnsubscribeParams
---@field subscriptionId string The id that `history/subscribe` gave.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- Empty.
---@class history_sidecar.UnsubscribeResult

--- Input of a person, or of the application on a person's behalf.
---@class history_sidecar.UserMessage
---@field role "user" The tag.
---@field content history_sidecar.Block[] What was said.

--- Input of a person, or of the application on a person's behalf.
---@class history_sidecar.UserMessageInput
---@field role "user" The tag.
---@field content history_sidecar.Content What was said.

--- A part in the shape of one vendor, passed through verbatim to that vendor only.
---@class history_sidecar.VendorBlock
---@field type "vendor" The tag.
---@field vendor string The vendor id.
---@field value any The part as the vendor writes it.

--- One vendor.
---@class history_sidecar.VendorInfo
---@field id "openai-chat"|"openai-responses"|"anthropic-messages"|"gemini"|"bedrock-converse"|"mistral"|"deepseek"|"kimi"|"qwen"|"glm"|"openrouter"|"ollama"|"cohere"|"xai"|"groq"|"cerebras"|"azure-openai"|"openai-compatible"|string Its id.
---@field title string Its name for people.
---@field api string The interface it speaks.
---@field rules table<string, any> Its rules as data.
---@field aliases string[] Other ids that mean it.

--- List the vendors.
---@class history_sidecar.VendorsParams
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- The vendors.
---@class history_sidecar.VendorsResult
---@field data history_sidecar.VendorInfo[] The vendors, by id.

--- One version.
---@class history_sidecar.VersionInfo
---@field version integer The version.
---@field kind "append"|"splicePrefix"|"replace"|"truncate"|"applyEdits"|"revert"|"rename"|"fork"|"elide"|"unelide"|"import"|"delete"|string Which kind of change made it: the verb of the method.
---@field ts integer When, Unix milliseconds.
---@field len integer How many entries are stored.
---@field origin history_sidecar.ChangeOrigin Who made it.

--- `ifVersion` or `ifPrefix` did not hold and nothing changed: read again, then try again.
---@class history_sidecar.VersionMismatchData
---@field kind "versionMismatch" The tag.
---@field retryable true Whether the same request can succeed later.
---@field history string The name.
---@field expected integer What the client asked for.
---@field actual integer What it is.

--- The version never was, or was pruned.
---@class history_sidecar.VersionUnavailableData
---@field kind "versionUnavailable" The tag.
---@field retryable false Whether the same request can succeed later.
---@field history string The name.
---@field version integer What was asked for.
---@field oldest integer The oldest version that can be read.

--- List the versions of a history, newest first.
---@class history_sidecar.VersionsParams
---@field history string The name of the history.
---@field cursor? string Where to go on: `nextCursor` of the page before.
---@field limit? integer How many items at most.
---@field _meta? table<string, any> Free data; keys carry a prefix, such as `example.com/x`.

--- One page of versions.
---@class history_sidecar.VersionsResult
---@field data history_sidecar.VersionInfo[] The versions, newest first.
---@field nextCursor string|nil Where the next page starts; null on the last one.

--- Something a vendor would refuse.
---@class history_sidecar.Violation
---@field vendor string The vendor.
---@field rule string The rule, such as `X1`.
---@field severity "info"|"warning"|"error"|string How bad it is.
---@field entryId string|nil The entry.
---@field index integer Its 0-based index; -1 where it is about no one entry.
---@field message string One sentence for a person.
---@field fixes history_sidecar.Fix[] Ways to mend it.

--- What projection can do.
---@class history_sidecar.WireCapability
---@field vendors string[] Ids of the vendors.

local M = {}

M.protocol_version = 1

--- The code of every `error.data.kind`.
M.error_codes = {
  invalidParams = -32602,
  historyNotFound = 1001,
  historyExists = 1002,
  versionMismatch = 1003,
  invalidName = 1004,
  operationReused = 1005,
  entryNotFound = 1006,
  limitExceeded = 1007,
  versionUnavailable = 1008,
  entryExists = 1009,
  unknownVendor = 1010,
  unprojectable = 1011,
  unparsable = 1012,
  storageUnavailable = 1020,
  storageCorrupt = 1021,
  storageReadOnly = 1022,
  overloaded = 1023,
  cursorInvalid = 1031,
}

--- Method name to the names of its params and result.
M.methods = {
  ["sidecar/info"] = { params = "history_sidecar.SidecarInfoParams", result = "history_sidecar.SidecarInfoResult" },
  ["rpc.discover"] = { params = "history_sidecar.DiscoverParams", result = "history_sidecar.DiscoverResult" },
  ["history/append"] = { params = "history_sidecar.AppendParams", result = "history_sidecar.AppendResult" },
  ["history/clearInjected"] = { params = "history_sidecar.ClearInjectedParams", result = "history_sidecar.ClearInjectedResult" },
  ["history/snapshot"] = { params = "history_sidecar.SnapshotParams", result = "history_sidecar.SnapshotResult" },
  ["history/splicePrefix"] = { params = "history_sidecar.SplicePrefixParams", result = "history_sidecar.SplicePrefixResult" },
  ["history/replace"] = { params = "history_sidecar.ReplaceParams", result = "history_sidecar.ReplaceResult" },
  ["history/truncate"] = { params = "history_sidecar.TruncateParams", result = "history_sidecar.TruncateResult" },
  ["history/len"] = { params = "history_sidecar.LenParams", result = "history_sidecar.LenResult" },
  ["history/recordInputTokens"] = { params = "history_sidecar.RecordInputTokensParams", result = "history_sidecar.RecordInputTokensResult" },
  ["history/tokenEstimate"] = { params = "history_sidecar.TokenEstimateParams", result = "history_sidecar.TokenEstimateResult" },
  ["history/list"] = { params = "history_sidecar.ListParams", result = "history_sidecar.ListResult" },
  ["history/info"] = { params = "history_sidecar.HistoryInfoParams", result = "history_sidecar.HistoryInfo" },
  ["history/setMetadata"] = { params = "history_sidecar.SetMetadataParams", result = "history_sidecar.SetMetadataResult" },
  ["history/delete"] = { params = "history_sidecar.DeleteParams", result = "history_sidecar.DeleteResult" },
  ["history/rename"] = { params = "history_sidecar.RenameParams", result = "history_sidecar.RenameResult" },
  ["history/fork"] = { params = "history_sidecar.ForkParams", result = "history_sidecar.ForkResult" },
  ["history/applyEdits"] = { params = "history_sidecar.ApplyEditsParams", result = "history_sidecar.ApplyEditsResult" },
  ["history/elide"] = { params = "history_sidecar.ElideParams", result = "history_sidecar.ElideResult" },
  ["history/unelide"] = { params = "history_sidecar.UnelideParams", result = "history_sidecar.UnelideResult" },
  ["history/outline"] = { params = "history_sidecar.OutlineParams", result = "history_sidecar.OutlineResult" },
  ["history/render"] = { params = "history_sidecar.RenderParams", result = "history_sidecar.RenderResult" },
  ["history/versions"] = { params = "history_sidecar.VersionsParams", result = "history_sidecar.VersionsResult" },
  ["history/revert"] = { params = "history_sidecar.RevertParams", result = "history_sidecar.RevertResult" },
  ["history/prune"] = { params = "history_sidecar.PruneParams", result = "history_sidecar.PruneResult" },
  ["history/search"] = { params = "history_sidecar.SearchParams", result = "history_sidecar.SearchResult" },
  ["history/planSplice"] = { params = "history_sidecar.PlanSpliceParams", result = "history_sidecar.PlanSpliceResult" },
  ["history/subscribe"] = { params = "history_sidecar.SubscribeParams", result = "history_sidecar.SubscribeResult" },
  ["history/unsubscribe"] = { params = "history_sidecar.UnsubscribeParams", result = "history_sidecar.UnsubscribeResult" },
  ["history/import"] = { params = "history_sidecar.ImportParams", result = "history_sidecar.ImportResult" },
  ["history/export"] = { params = "history_sidecar.ExportParams", result = "history_sidecar.ExportResult" },
  ["wire/project"] = { params = "history_sidecar.ProjectParams", result = "history_sidecar.ProjectResult" },
  ["wire/check"] = { params = "history_sidecar.CheckParams", result = "history_sidecar.CheckResult" },
  ["wire/parse"] = { params = "history_sidecar.ParseParams", result = "history_sidecar.ParseResult" },
  ["wire/vendors"] = { params = "history_sidecar.VendorsParams", result = "history_sidecar.VendorsResult" },
  ["history/didChange"] = { params = "history_sidecar.DidChangeNotification" },
  ["history/didDelete"] = { params = "history_sidecar.DidDeleteNotification" },
}

return M
