// Types of the History Sidecar protocol. Generated; the source is `sidecar/contract`.
// A trailing `(string & {})` marks an open string: other values are legal, and a reader must expect them.

export const PROTOCOL_VERSION = 1;

/**
 * Add entries to the end of a history, as one change. Creates the history unless `ifVersion` forbids it.
 *
 * Auto-injected entries go to the overlay of the connection, at the place where they stand.
 */
export interface AppendParams {
  /** The name of the history. */
  history: string;
  /** The entries, oldest first; at least one. */
  entries: EntryInput[];
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What an append did. */
export interface AppendResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** Ids of the appended entries, in order; made by the server where the client sent none. */
  entryIds: string[];
}

/**
 * Apply edits in order, each seeing the result of those before, as one atomic change.
 *
 * `ifVersion` is required. Editors use `setText` and `remove` only: nobody writes back an entry it has read.
 */
export interface ApplyEditsParams {
  /** The name of the history. */
  history: string;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion: number;
  /** The edits; at least one. */
  edits: HistoryEdit[];
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What the edits did. */
export interface ApplyEditsResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** Ids of the entries that were inserted, in order. */
  entryIds: string[];
}

/** The JSON text exactly as the model produced it, perhaps unfinished; an object is stored as compact JSON text. */
export type Arguments = string | Record<string, unknown>;

/** A model's reply; all tool calls of one turn stay in one message. */
export interface AssistantMessage {
  /** The tag. */
  role: "assistant";
  /** What it said; left out, `null` and one empty text are three facts. */
  content?: Block[] | null;
  /** What it thought. */
  reasoning?: Reasoning[];
  /** The tools it wants to run. */
  toolCalls?: ToolCall[];
  /** Who produced it. */
  origin?: Origin;
}

/** A model's reply; all tool calls of one turn stay in one message. */
export interface AssistantMessageInput {
  /** The tag. */
  role: "assistant";
  /** What it said; left out, `null` and `""` are three facts and are stored as sent. */
  content?: Content | null;
  /** What it thought. */
  reasoning?: Reasoning[] | null;
  /** The tools it wants to run. */
  toolCalls?: ToolCallInput[] | null;
  /** Who produced it. */
  origin?: Origin | null;
}

/** A sound: exactly one of `data`, `url` and `blob`. */
export interface AudioBlock {
  /** The tag. */
  type: "audio";
  /** Media type, such as `audio/wav`; may be left out beside a `url`. */
  mimeType?: string | null;
  /** The bytes, base64. */
  data?: string | null;
  /** Where the vendor fetches it. */
  url?: string | null;
  /** The content hash under which the store keeps it. */
  blob?: string | null;
}

/** One piece of content, tagged by `type`. */
export type Block = TextBlock | ImageBlock | FileBlock | AudioBlock | JsonBlock | RefusalBlock | VendorBlock | OpaqueBlock;

/** How much room there is. Values up to 1 are shares of the usable window, above 1 absolute tokens. */
export interface Budget {
  /** The context window in tokens; needed for shares, since the sidecar does not guess it. */
  window?: number | null;
  /** Tokens kept free for the answer. */
  reserveOutput?: number | null;
  /** Plan only above this; 0.8 where omitted. */
  trigger?: number | null;
  /** Come down to this; 0.4 where omitted. */
  target?: number | null;
}

/** What the model or endpoint can do, where the caller knows better than the vendor's table. */
export interface Capabilities {
  /** Reasoning is on in this request. */
  thinking?: boolean | null;
  /** The list may end in an assistant message. */
  prefill?: boolean | null;
  /** System messages may stand behind the first turn. */
  systemInTurns?: boolean | null;
  /** Tool results may hold images. */
  toolResultImages?: boolean | null;
  /** One leading system message, strict alternation of user and assistant. */
  strictTemplate?: boolean | null;
  /** The form tool call ids must have. */
  callIdFormat?: string | null;
  /** The vendor keeps items (Responses with `store: true`). */
  stored?: boolean | null;
  /** The vendor checks that nothing before a reasoning block has changed. */
  preservedThinking?: boolean | null;
  /** System messages are sent in the role `developer`. */
  developerRole?: boolean | null;
  /** The model takes images. */
  images?: boolean | null;
  /** The first call of each step must carry a signature (Gemini 3). */
  signedCalls?: boolean | null;
}

/** What changed, tagged by `kind`. */
export type Change = EditsChange | ResyncChange;

/** One step of a change; edits apply in order. */
export interface ChangeEdit {
  /** 0-based index. */
  start: number;
  /** How many entries went. */
  deleteCount: number;
  /** What came in their place; left out where the subscription asked for no entries. */
  entries?: Entry[];
  /** How many entries came, where `entries` is left out. */
  insertCount?: number;
}

/** Who made a change. */
export interface ChangeOrigin {
  /** True where it came through the process that tells it; an earlier process of the same client is another one. */
  local: boolean;
  /** The name the client gave itself at `initialize`. */
  client: string | null;
}

/** Say what vendors would refuse in the entries as they are. */
export interface CheckParams {
  /** The history to check. */
  history?: string | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Entries to check, in place of a history. */
  entries?: EntryInput[] | null;
  /** The vendors; all where omitted. */
  vendors?: ("openai-chat" | "openai-responses" | "anthropic-messages" | "gemini" | "bedrock-converse" | "mistral" | "deepseek" | "kimi" | "qwen" | "glm" | "openrouter" | "ollama" | "cohere" | "xai" | "groq" | "cerebras" | "azure-openai" | "openai-compatible" | (string & {}))[] | null;
  /** The vendor's model id; picks the default capabilities. */
  model?: string | null;
  /** What the caller knows better than the vendor's table. */
  capabilities?: Capabilities | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What was found. */
export interface CheckResult {
  /** The version that was checked; null for `entries`. */
  version: number | null;
  /** The violations, by vendor and then by index. */
  violations: Violation[];
}

/** Drop the auto-injected entries of this connection, as before each new run; no stored entry is touched. */
export interface ClearInjectedParams {
  /** The name of the history. */
  history: string;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** How many were there. */
export interface ClearInjectedResult {
  /** How many auto-injected entries were dropped. */
  dropped: number;
}

/** Who is speaking. */
export interface ClientInfo {
  /** A short name, such as `neovim`; its first 128 characters are kept with every change. */
  name: string;
  /** Its version. */
  version?: string | null;
}

/** Blocks, or a plain string, which means one text block. */
export type Content = string | Block[];

/** The cursor was not made by this method with these params: start from the beginning. */
export interface CursorInvalidData {
  /** The tag. */
  kind: "cursorInvalid";
  /** Whether the same request can succeed later. */
  retryable: false;
}

/** Delete a history. A tombstone keeps its version, so a stale `ifVersion` cannot bring it back. */
export interface DeleteParams {
  /** The name of the history. */
  history: string;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a delete did; deleting what does not exist is no error. */
export interface DeleteResult {
  /** The name of the history. */
  history: string;
  /** Whether there was a history of this name. */
  existed: boolean;
  /** The version of the tombstone it left; 0 where there was nothing to delete. */
  version: number;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** A history has a new version. It follows the commit; the author is told as well. */
export interface DidChangeNotification {
  /** The subscriptions of this connection that it answers. */
  subscriptionIds: string[];
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** The version the edits start from. */
  previousVersion: number;
  /** How many entries are stored. */
  len: number;
  /** What changed. */
  change: Change;
  /** The operation id of the mutation, where it had one. */
  operationId: string | null;
  /** Who made the change. */
  origin: ChangeOrigin;
}

/** A history was deleted, or has another name now. */
export interface DidDeleteNotification {
  /** The subscriptions of this connection that it answers. */
  subscriptionIds: string[];
  /** The name of the history. */
  history: string;
  /** The version of the tombstone. */
  version: number;
  /** The new name, where it was renamed. */
  renamedTo: string | null;
  /** The operation id of the mutation, where it had one. */
  operationId: string | null;
  /** Who did it. */
  origin: ChangeOrigin;
}

/** Ask for the OpenRPC document of the server. */
export interface DiscoverParams {
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** An OpenRPC document. */
export interface DiscoverResult {
  /** The version of OpenRPC. */
  openrpc: string;
  /** Title, version, licence. */
  info: Record<string, unknown>;
  /** The methods. */
  methods: Record<string, unknown>[];
  /** Schemas and errors. */
  components: Record<string, unknown>;
}

/** One step from a version to a later one; edits apply in order. */
export interface Edit {
  /** 0-based index. */
  start: number;
  /** How many entries go. */
  deleteCount: number;
  /** What comes in their place. */
  entries: Entry[];
}

/** The change itself. */
export interface EditsChange {
  /** The tag. */
  kind: "edits";
  /** The steps from `previousVersion` to `version`. */
  edits: ChangeEdit[];
}

/** Show entries to the model as a short placeholder; the entries themselves stay whole. */
export interface ElideParams {
  /** The name of the history. */
  history: string;
  /** The entries to elide; pinned ones are left alone. */
  entryIds: string[];
  /**
   * How to elide, kept with the marker: `{"preview": n}` keeps n characters of the start and the end.
   *
   * Its one key is `preview`, an integer from 0; anything else is refused.
   */
  policy?: unknown;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** Which tool results a plan may elide. */
export interface ElidePolicy {
  /** The newest so many results stay; 5 where omitted. */
  keepResults?: number | null;
  /** Results of the newest so many turns stay; 2 where omitted. */
  keepTurns?: number | null;
  /** Names of tools whose results stay. */
  exempt?: string[] | null;
  /** Elide only if it frees so many tokens; 20 000 where omitted. */
  clearAtLeast?: number | null;
}

/** What an elision did. */
export interface ElideResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** What a history holds, as the server answers it: defaults are left out. */
export interface Entry {
  /** The message. */
  message: Message;
  /** Unique in the history; left out only by `wire/parse`, whose entries are not stored yet. */
  id?: string;
  /** Which agent produced an assistant message; left out for the primary agent. */
  agent?: string;
  /** On whose authority a user message was sent. */
  principal?: string;
  /** When, Unix milliseconds; left out where `id` is. */
  ts?: number;
  /** Compaction planning must keep it. */
  pinned?: boolean;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown>;
  /** True on an entry of this connection's overlay, which is shown but not stored. */
  autoInjected?: boolean;
}

/** The history already holds an entry with this id: make a new id, or drop the duplicate. */
export interface EntryExistsData {
  /** The tag. */
  kind: "entryExists";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name. */
  history: string;
  /** The id. */
  entryId: string;
}

/** What a history holds, as a client sends it. */
export interface EntryInput {
  /** The message. */
  message: MessageInput;
  /** Unique in the history; made by the server where left out. */
  id?: string | null;
  /** Which agent produced an assistant message; `""` is the primary agent, anything else a guest. */
  agent?: string | null;
  /** Who sent it. Runtime-only: never stored and never answered. */
  sender?: string | null;
  /** Injected by the runtime: kept in the connection, never stored. */
  autoInjected?: boolean | null;
  /** On whose authority a user message was sent; stored, never shown to a model. */
  principal?: string | null;
  /** When, Unix milliseconds; stamped by the server where left out. */
  ts?: number | null;
  /** Compaction planning must keep it. */
  pinned?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The history has no such entry at that version. */
export interface EntryNotFoundData {
  /** The tag. */
  kind: "entryNotFound";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name. */
  history: string;
  /** The id. */
  entryId: string;
}

/** `error.data`, tagged by `kind`; a kind that a client does not know is treated by `retryable`. */
export type ErrorData = InvalidParamsData | HistoryNotFoundData | HistoryExistsData | VersionMismatchData | InvalidNameData | OperationReusedData | EntryNotFoundData | LimitExceededData | VersionUnavailableData | EntryExistsData | UnknownVendorData | UnprojectableData | UnparsableData | StorageUnavailableData | StorageCorruptData | StorageReadOnlyData | OverloadedData | CursorInvalidData;

/** Write a history in a format of another tool, or in our own, which loses nothing. */
export interface ExportParams {
  /** The name of the history. */
  history: string;
  /** The format. */
  format: "own-jsonl" | "markdown" | "claude-code" | "codex" | "opencode" | "copilot" | "gemini-cli" | "openai-chat" | "sharegpt" | "chatgpt-export" | "langchain" | "pydantic-ai" | "anthropic-messages" | "gemini" | "aider" | "gptel" | "codecompanion" | "vscode-chat" | "goose" | (string & {});
  /** A `file:` URI inside an allowed folder to write to; the text is answered where omitted. */
  uri?: string | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Mask well-known secrets. */
  redact?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The transcript, or where it was written. */
export interface ExportResult {
  /** The transcript, where no `uri` was given. */
  text: string | null;
  /** Where it was written. */
  uri: string | null;
  /** Its length in UTF-8. */
  bytes: number;
  /** What the format cannot say, and what was masked. */
  losses: Loss[];
}

/** A document: exactly one of `data`, `url` and `blob`. */
export interface FileBlock {
  /** The tag. */
  type: "file";
  /** The file name. */
  name?: string | null;
  /** Media type, such as `application/pdf`; may be left out beside a `url`. */
  mimeType?: string | null;
  /** The bytes, base64. */
  data?: string | null;
  /** Where the vendor fetches it. */
  url?: string | null;
  /** The content hash under which the store keeps it. */
  blob?: string | null;
}

/** A way to mend a violation: the payload of a `history/applyEdits` at the version that was checked. */
export interface Fix {
  /** What it does, for a menu. */
  title: string;
  /** The edits. */
  edits: HistoryEdit[];
}

/** Start a new history from an old one, copy-on-write: nothing is copied, neither sees the other's changes. */
export interface ForkParams {
  /** The name of the history. */
  history: string;
  /** The new name; must not be taken. */
  to: string;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Take only the first so many entries; all where omitted. */
  len?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a fork did; `history`, `version` and `len` are those of the new history. */
export interface ForkResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** One edit of a history, tagged by `kind`. */
export type HistoryEdit = SpliceEdit | SetTextEdit | RemoveEdit;

/** The name is taken: pick another. */
export interface HistoryExistsData {
  /** The tag. */
  kind: "historyExists";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name. */
  history: string;
  /** The version. */
  version: number;
}

/** One history, without its entries. */
export interface HistoryInfo {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** A title for people. */
  title: string | null;
  /** Tags. */
  tags: string[];
  /** When the history was made, Unix milliseconds. */
  createdAt: number;
  /** When it last changed, Unix milliseconds. */
  updatedAt: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** Free metadata. */
  metadata: Record<string, unknown>;
}

/** Describe one history. */
export interface HistoryInfoParams {
  /** The name of the history. */
  history: string;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** No live history has this name: append to it to make it. */
export interface HistoryNotFoundData {
  /** The tag. */
  kind: "historyNotFound";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name. */
  history: string;
}

/** A picture: exactly one of `data`, `url` and `blob`. */
export interface ImageBlock {
  /** The tag. */
  type: "image";
  /** Media type, such as `image/png`; may be left out beside a `url`. */
  mimeType?: string | null;
  /** The bytes, base64. */
  data?: string | null;
  /** Where the vendor fetches it. */
  url?: string | null;
  /** The content hash under which the store keeps it. */
  blob?: string | null;
}

/**
 * Append the entries of a transcript that another tool wrote, as one change.
 *
 * A transcript longer than one call may be comes in several changes, each whole; a cancelled import leaves those that
 * were made, and the next import goes on behind them. What the tool compacted away is a version of its own.
 */
export interface ImportParams {
  /** The name of the history. */
  history: string;
  /** The format, or `auto` to detect it. */
  format: "own-jsonl" | "markdown" | "claude-code" | "codex" | "opencode" | "copilot" | "gemini-cli" | "openai-chat" | "sharegpt" | "chatgpt-export" | "langchain" | "pydantic-ai" | "anthropic-messages" | "gemini" | "aider" | "gptel" | "codecompanion" | "vscode-chat" | "goose" | (string & {});
  /** The transcript itself. */
  text?: string | null;
  /** A `file:` URI inside an allowed folder. */
  uri?: string | null;
  /** Where given, `$/progress` notifications with this token tell how far the import is. */
  workDoneToken?: ProgressToken | null;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What an import did. */
export interface ImportResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** The format that was read. */
  format: string;
  /** Ids of the imported entries, in order. */
  entryIds: string[];
  /** What could not be taken over. */
  losses: Loss[];
}

/** `initializationOptions.sidecar` of `initialize`; everything may be left out. */
export interface InitializeOptions {
  /** The protocol version the client speaks. */
  protocolVersion?: number | null;
  /** Who is speaking; shown to others as the origin of changes. */
  client?: ClientInfo | null;
  /** A SQLite file, `:memory:` or `postgresql://…`, where no `--store` was given. */
  store?: string | null;
  /** What a person configures for transcripts as documents: `{"vendors": […], "codeLens": …, "inlayHints": …}`. */
  defaults?: Record<string, unknown> | null;
}

/** The name breaks the grammar. */
export interface InvalidNameData {
  /** The tag. */
  kind: "invalidName";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name, at most its first 255 characters. */
  history: string;
}

/** Shape or range is wrong: correct the call. */
export interface InvalidParamsData {
  /** The tag. */
  kind: "invalidParams";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** Every problem. */
  errors: Problem[];
}

/** Structured tool content; the order of keys is kept. */
export interface JsonBlock {
  /** The tag. */
  type: "json";
  /** Any JSON value, `null` included. */
  value: unknown;
}

/** What must stay at the end. */
export interface KeepLast {
  /** The newest so many user turns; 2 where omitted. */
  turns?: number | null;
  /** At least so many tokens. */
  tokens?: number | null;
}

/** Ask length and version: the mark to roll back to. An absent history is no error. */
export interface LenParams {
  /** The name of the history. */
  history: string;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** Length and version; 0, 0 and true where the history is absent. */
export interface LenResult {
  /** How many entries are stored. */
  len: number;
  /** The version. */
  version: number;
  /** Whether there are no entries. */
  isEmpty: boolean;
}

/** A size, depth or count is over its limit (`sidecar/info`): send less. */
export interface LimitExceededData {
  /** The tag. */
  kind: "limitExceeded";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** Which limit. */
  limit: string;
  /** What was sent. */
  value: number;
  /** What is allowed. */
  max: number;
}

/** Bounds, by the name that `limitExceeded` gives. */
export interface Limits {
  /** Length of the header of a frame. */
  headerBytes: number;
  /** Length of the body of a frame. */
  messageBytes: number;
  /** Nesting of arrays and objects in a frame. */
  depth: number;
  /** Entries in one call. */
  entriesPerCall: number;
  /** Items on one page. */
  pageSize: number;
  /** Requests of one connection that wait for their answer. */
  pendingRequests: number;
}

/** List histories, a page at a time. */
export interface ListParams {
  /** Only names that start with this text. */
  prefix?: string | null;
  /** Where to go on: `nextCursor` of the page before. */
  cursor?: string | null;
  /** How many items at most. */
  limit?: number | null;
  /** `name` (default), or the newest first by `updatedAt` or `createdAt`. */
  orderBy?: "name" | "updatedAt" | "createdAt" | (string & {}) | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** One page of histories. */
export interface ListResult {
  /** The histories. */
  data: HistoryInfo[];
  /** Where the next page starts; null on the last one. */
  nextCursor: string | null;
}

/** Something that does not come through. */
export interface Loss {
  /** The rule, such as `X3`. */
  rule: string;
  /** How bad it is. */
  severity: "info" | "warning" | "error" | (string & {});
  /** The entry it is about. */
  entryId: string | null;
  /** JSON Pointer into the entry. */
  path: string | null;
  /** One sentence for a person. */
  message: string;
}

/** A message as the server answers it, tagged by `role`. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage | NoteMessage | SummaryMessage;

/** A message as a client sends it, tagged by `role`. */
export type MessageInput = SystemMessage | UserMessageInput | AssistantMessageInput | ToolMessageInput | NoteMessage | SummaryMessage;

/** A three-state patch: an omitted field stays, `null` clears it, a value sets it. */
export interface MetadataPatch {
  /** A title for people. */
  title?: string | null;
  /** Tags, the whole list. */
  tags?: string[] | null;
  /** Free metadata: each key of the object is itself three-state, so `{"a": null}` removes `a`. */
  metadata?: Record<string, unknown> | null;
}

/** One entry that may not be dropped. */
export interface MustKeep {
  /** The entry. */
  id: string;
  /** `pinned`, `pair_of:ID`, `open_call`, `system`, `opaque`. */
  why: string;
}

/** A note of the runtime: a run finished, an instruction changed. The model sees it as a system message. */
export interface NoteMessage {
  /** The tag. */
  role: "note";
  /** The note. */
  text: string;
}

/** A block of a type that this release does not know: kept whole, verbatim. */
export interface OpaqueBlock {
  /** Any other type. */
  type: string;
}

/** The operation id was used with other params: make a new id. */
export interface OperationReusedData {
  /** The tag. */
  kind: "operationReused";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The id. */
  operationId: string;
}

/** Who produced an assistant message. */
export interface Origin {
  /** The vendor id. */
  vendor: string;
  /** The vendor's model id. */
  model?: string | null;
  /** The account or endpoint. */
  scope?: string | null;
}

/** One entry in one line. */
export interface OutlineItem {
  /** The entry. */
  id: string;
  /** Its 0-based index. */
  index: number;
  /** The role of its message. */
  role: string;
  /** What it mainly is; a message with tool calls is a `toolCall` whatever else it holds. */
  kind: "text" | "toolCall" | "toolResult" | "reasoning" | "summary" | "note" | (string & {});
  /** A short plain text for one line. */
  line: string;
  /** Estimated tokens. */
  tokens: number | null;
  /** When, Unix milliseconds. */
  ts: number | null;
  /** Ids of the tool calls it makes or answers. */
  callIds: string[];
  /** Whether the model sees a placeholder. */
  elided: boolean;
  /** Whether compaction must keep it. */
  pinned: boolean;
}

/** List entries one line each, for trees and pickers. */
export interface OutlineParams {
  /** The name of the history. */
  history: string;
  /** 0-based index of the first entry wanted; negative counts from the end. */
  start?: number | null;
  /** How many entries at most. */
  count?: number | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The outline. */
export interface OutlineResult {
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** The entries asked for, in order. */
  data: OutlineItem[];
}

/** A bounded queue is full: wait, then try again. */
export interface OverloadedData {
  /** The tag. */
  kind: "overloaded";
  /** Whether the same request can succeed later. */
  retryable: true;
  /** How long to wait. */
  retryAfterMs: number;
}

/** Read entries out of a vendor's request or response body: the inverse of a projection. */
export interface ParseParams {
  /** The vendor. */
  vendor: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini" | "bedrock-converse" | "mistral" | "deepseek" | "kimi" | "qwen" | "glm" | "openrouter" | "ollama" | "cohere" | "xai" | "groq" | "cerebras" | "azure-openai" | "openai-compatible" | (string & {});
  /** What `body` is. */
  kind: "request" | "response";
  /** The body as JSON; a stream must be joined first. */
  body: unknown;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The entries, ready to be appended. */
export interface ParseResult {
  /** The entries, without ids and times. */
  entries: Entry[];
  /** What could not be taken over. */
  losses: Loss[];
  /** The vendor's usage object, for `history/recordInputTokens`. */
  usage: Record<string, unknown> | null;
}

/** What the plan does to a prompt cache. */
export interface PlanCache {
  /** Index of the first entry that changes. */
  firstChanged: number;
  /** Tokens before it. */
  prefixTokensKept: number;
  /** Tokens after it. */
  tokensRewritten: number;
}

/** Plan a compaction: what to drop, what to keep, what it saves. Changes nothing, and same input gives same plan. */
export interface PlanSpliceParams {
  /** The name of the history. */
  history: string;
  /** How much room there is. */
  budget: Budget;
  /** Plan only for this version; `versionMismatch` where the history has moved. */
  version?: number | null;
  /** What must stay at the end. */
  keepLast?: KeepLast | null;
  /** Entries to keep, beside those stored as pinned. */
  pinned?: string[] | null;
  /** Picks profile, image rule and reasoning rule, with `model`. */
  vendor?: string | null;
  /** The vendor's model id. */
  model?: string | null;
  /** How long the summary will be; 2000 where omitted. */
  summaryTokens?: number | null;
  /** Do nothing for less than this share of the window; 0.1 where omitted. */
  minSavings?: number | null;
  /** Plan although the trigger is not reached. */
  force?: boolean | null;
  /** What may be relaxed, tried in this order. */
  allow?: ("elide" | "step" | "fewerTurns")[] | null;
  /** What may be elided. */
  elide?: ElidePolicy | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/**
 * The plan. It is carried out by `history/splicePrefix` with `dropCount`, and `carry` = `head` + `carry`.
 *
 * `vendorCompaction` is the plan of a splice too, where a splice would cost signed reasoning and the vendor's own
 * compaction keeps it: ask the vendor to compact and append its answer, with the block that it wrote, instead. A
 * client that cannot do so splices.
 */
export interface PlanSpliceResult {
  /** What to do. */
  action: "none" | "elide" | "splice" | "vendorCompaction" | "impossible" | (string & {});
  /** Why. */
  reason: "under_trigger" | "fits" | "best_effort" | "no_cut_point" | "nothing_droppable" | "savings_too_small" | "open_call_blocks" | (string & {});
  /** The version. */
  version: number;
  /** Length of the prefix that goes, for `history/splicePrefix`. */
  dropCount: number;
  /** What the summary must cover, in order. */
  drop: string[];
  /** What to elide, for `history/elide`. */
  elide: string[];
  /** Leading system entries, which stay first. */
  head: string[];
  /** Pinned entries of the prefix with their partners, which go back in before the summary. */
  carry: string[];
  /** Where the kept end starts. */
  tail: PlanTail | null;
  /** What may not be dropped, and why. */
  mustKeep: MustKeep[];
  /** An older summary among `drop`: merge it instead of summarising it again. */
  previousSummary: string | null;
  /** What the summary should be. */
  summary: PlanSummary | null;
  /** Estimates before and after. */
  tokens: PlanTokens;
  /** What it does to a prompt cache. */
  cache: PlanCache | null;
  /** Kept entries whose signed reasoning the vendor will no longer accept after a splice or an elision. */
  staleReasoning: string[];
  /** Which of `allow` was needed. */
  relaxed: string[];
  /** By how many tokens the target is missed. */
  shortfall: number;
  /**
   * What a careful client wants to know: `reasoning_lost_in_open_turn`; `pins_into_instructions`, since a vendor that
   * compacts reads nothing before its own block, so that pinned entries belong into what it is asked for.
   */
  warnings: string[];
}

/** What the summary should be. */
export interface PlanSummary {
  /** The role the summary is shown in. */
  role: string;
  /** How long it may be. */
  maxTokens: number;
  /** The entry it follows; null at the very front. */
  insertAfter: string | null;
}

/** Where the kept end starts. */
export interface PlanTail {
  /** Its first entry. */
  first: string | null;
  /** Whether it starts at a user turn or at a step inside one. */
  kind: "turn" | "step" | (string & {});
  /** How many user turns it holds. */
  turns: number;
}

/** Estimates before and after. */
export interface PlanTokens {
  /** Now. */
  before: number;
  /** After the plan. */
  after: number;
  /** Lower bound of `after`. */
  low: number;
  /** Upper bound of `after`. */
  high: number;
  /** What the request costs beside the history. */
  overhead: number;
  /** How the numbers came about. */
  basis: "exact" | "recorded+delta" | "rebased" | "heuristic" | (string & {});
}

/** One thing that is wrong with params. */
export interface Problem {
  /** JSON Pointer in wire names; `""` is the params object. */
  path: string;
  /** What is wrong, such as `is required`. */
  message: string;
}

/** What the client calls the progress of a request. */
export type ProgressToken = number | string;

/** What the caller wants. */
export interface ProjectOptions {
  /** `auto` sends reasoning back where it belongs, `drop` never. */
  reasoning?: "auto" | "drop" | null;
  /** Whether text of guest agents is wrapped in `<from agent="…">`. */
  guests?: "wrap" | "plain" | null;
  /** Whether images are sent or replaced by a placeholder. */
  images?: "keep" | "elide" | null;
  /** `error` refuses to project where something would be lost. */
  onLoss?: "report" | "error" | null;
  /** How many cache breakpoints to set, where the vendor has them. */
  cacheMarkers?: number | null;
  /** Texts to use in place of the built-in placeholders. */
  placeholder?: Record<string, string> | null;
}

/** Make the message list that a vendor accepts. Free of side effects; same input gives the same bytes. */
export interface ProjectParams {
  /** The vendor. */
  vendor: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini" | "bedrock-converse" | "mistral" | "deepseek" | "kimi" | "qwen" | "glm" | "openrouter" | "ollama" | "cohere" | "xai" | "groq" | "cerebras" | "azure-openai" | "openai-compatible" | (string & {});
  /** The history to project. */
  history?: string | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Entries to project, in place of a history. */
  entries?: EntryInput[] | null;
  /** The vendor's model id; picks the default capabilities. */
  model?: string | null;
  /** The account or endpoint: encrypted or signed reasoning goes back only to the scope it came from. */
  scope?: string | null;
  /** What the caller knows better than the vendor's table. */
  capabilities?: Capabilities | null;
  /** What the caller wants. */
  options?: ProjectOptions | null;
  /** Also say how many leading wire messages equal those of the projection at this version. */
  sincePrefixOf?: number | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The payload, and every difference between it and the stored entries. */
export interface ProjectResult {
  /** The vendor, in its canonical id. */
  vendor: string;
  /** The version that was projected; null for `entries`. */
  version: number | null;
  /** Merged by the caller into its request. */
  body: Record<string, unknown>;
  /** What the model will not see. */
  losses: Loss[];
  /** What was made legal. */
  repairs: Repair[];
  /** How many leading wire messages equal those at `sincePrefixOf`; null where it was not given. */
  stableMessages: number | null;
}

/**
 * Destroy old versions and what only they hold, for ever. Nothing else ever destroys.
 *
 * DELETED histories go whole, also without `keepVersions` and `before`: only a `before` spares those that were deleted
 * later. Live histories keep their newest version always, and all versions where neither is given.
 */
export interface PruneParams {
  /** Only this history, or what was deleted under this name; all where omitted. */
  history?: string | null;
  /** How many of the newest versions of a live history to keep; deleted histories go whatever it is. */
  keepVersions?: number | null;
  /** Only versions replaced, and histories deleted, before this time, Unix milliseconds. */
  before?: number | null;
  /** Say what would be freed and change nothing. */
  dryRun?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What pruning freed, or would free. */
export interface PruneResult {
  /** Bytes of entries that no version shows any more. */
  freedBytes: number;
  /** How many versions can no longer be read. */
  versionsDropped: number;
}

/** One piece of reasoning, kept byte for byte, with the origin it may be replayed to. */
export interface Reasoning {
  /** Plain text. */
  text?: string | null;
  /** The vendor's signature over the text. */
  signature?: string | null;
  /** Opaque bytes, such as redacted or encrypted reasoning. */
  data?: string | null;
  /** The vendor that made it; that of the message's `origin` where left out. */
  vendor?: string | null;
  /** The model that made it. */
  model?: string | null;
  /** The account or endpoint that can read it. */
  scope?: string | null;
  /** The vendor's item id. */
  id?: string | null;
  /** The text was emptied after the vendor signed it: it may not be replayed where the vendor checks. */
  cleared?: boolean | null;
}

/** Tell how many input tokens a vendor counted for the history; it becomes the baseline of the estimate. */
export interface RecordInputTokensParams {
  /** The name of the history. */
  history: string;
  /** The whole input, tokens read from and written to a cache included. */
  tokens?: number | null;
  /** The vendor's usage object as it came; the total is computed from it without counting anything twice. */
  usage?: Record<string, unknown> | null;
  /** Whose `usage` it is; required with it. */
  vendor?: string | null;
  /** The model that counted; calibration is kept per model. */
  model?: string | null;
  /** The version that was measured; the newest where omitted. */
  atVersion?: number | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The estimate afterwards. */
export interface RecordInputTokensResult {
  /** The version. */
  version: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
}

/** The model declined, in its own words. */
export interface RefusalBlock {
  /** The tag. */
  type: "refusal";
  /** The words. */
  text: string;
}

/** Remove one entry. */
export interface RemoveEdit {
  /** The tag. */
  kind: "remove";
  /** The entry. */
  entryId: string;
}

/** Give a history another name. The old name is free afterwards. */
export interface RenameParams {
  /** The name of the history. */
  history: string;
  /** The new name; must not be taken. */
  to: string;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a rename did; `history` is the new name. */
export interface RenameResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** Render entries for people; transcript text is escaped. */
export interface RenderParams {
  /** The name of the history. */
  history: string;
  /** The format. */
  format?: "markdown" | "html" | null;
  /** 0-based index of the first entry wanted; negative counts from the end. */
  start?: number | null;
  /** How many entries at most. */
  count?: number | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Mask well-known secrets. */
  redact?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The text and where each entry is in it. */
export interface RenderResult {
  /** The version. */
  version: number;
  /** The rendered text. */
  text: string;
  /** Where each entry is, in order. */
  map: RenderedEntry[];
}

/** Which lines show an entry. */
export interface RenderedEntry {
  /** The entry. */
  entryId: string;
  /** 0-based first line. */
  startLine: number;
  /** 0-based line behind the last one. */
  endLine: number;
}

/** A change that made the list legal and lost nothing the model needs. */
export interface Repair {
  /** The rule, such as `X1`. */
  rule: string;
  /** The entry it is about. */
  entryId: string | null;
  /** What was done. */
  action: "dropped" | "merged" | "synthesized" | "moved" | "rewritten" | (string & {});
  /** One sentence for a person. */
  message: string;
}

/** Put a new list of entries in place of the whole history. The token baseline is reset. */
export interface ReplaceParams {
  /** The name of the history. */
  history: string;
  /** The new entries; may be empty. */
  entries: EntryInput[];
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a replace did. */
export interface ReplaceResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** Ids of the new entries, in order. */
  entryIds: string[];
}

/** The receiver was slow: read with `sinceVersion`. */
export interface ResyncChange {
  /** The tag. */
  kind: "resync";
}

/** Make a new version that has the content of an older one, so that a compaction can be undone. */
export interface RevertParams {
  /** The name of the history. */
  history: string;
  /** The version whose content comes back. */
  toVersion: number;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a revert did. */
export interface RevertResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** One entry that matches. */
export interface SearchHit {
  /** The name of the history. */
  history: string;
  /** The entry. */
  entryId: string;
  /** Its 0-based index in the newest version. */
  index: number;
  /** A piece of its text around the match, plain text. */
  snippet: string;
  /** Higher is better; comparable within one answer only. */
  rank: number;
}

/** Find entries by full text. Tool arguments, and results of entries marked private, are never indexed. */
export interface SearchParams {
  /** Words that must all occur; `"quoted words"` must occur side by side. */
  query: string;
  /** Only histories whose names start with this text. */
  prefix?: string | null;
  /** Where to go on: `nextCursor` of the page before. */
  cursor?: string | null;
  /** How many items at most. */
  limit?: number | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** One page of hits, best first. */
export interface SearchResult {
  /** The hits. */
  data: SearchHit[];
  /** Where the next page starts; null on the last one. */
  nextCursor: string | null;
}

/** The server. */
export interface ServerInfo {
  /** `history-sidecar`. */
  name: string;
  /** Its version. */
  version: string;
}

/** Change title, tags and metadata of a history. The version stays. */
export interface SetMetadataParams {
  /** The name of the history. */
  history: string;
  /** What to change. */
  patch: MetadataPatch;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The history afterwards: the fields of `HistoryInfo`, and `replayed`. */
export interface SetMetadataResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** A title for people. */
  title: string | null;
  /** Tags. */
  tags: string[];
  /** When the history was made, Unix milliseconds. */
  createdAt: number;
  /** When it last changed, Unix milliseconds. */
  updatedAt: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** Free metadata. */
  metadata: Record<string, unknown>;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** Give one text of one entry a new value; everything else of the entry stays byte for byte. */
export interface SetTextEdit {
  /** The tag. */
  kind: "setText";
  /** The entry. */
  entryId: string;
  /** The new text. */
  text: string;
  /** Index of the content block, which must be text; the only text block where omitted. */
  block?: number | null;
}

/** `capabilities.experimental.sidecar` in the answer to `initialize`. */
export interface SidecarCapabilities {
  /** The protocol version the server speaks. */
  protocolVersion: number;
  /** One key per `history/*` method, without the noun; `{}` means supported. */
  history: Record<string, unknown>;
  /** What projection can do. */
  wire: WireCapability;
  /** Where histories are kept. */
  store: StoreInfo;
  /** Bounds. */
  limits: Limits;
}

/** Ask what `initialize` told, at any time. */
export interface SidecarInfoParams {
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The server, its store, its vendors, its estimators, its limits. */
export interface SidecarInfoResult {
  /** The protocol version the server speaks. */
  protocolVersion: number;
  /** The server. */
  server: ServerInfo;
  /** Where histories are kept. */
  store: StoreInfo;
  /** Ids of the vendors; `wire/vendors` says more. */
  vendors: string[];
  /** Ids for `history/tokenEstimate`. */
  estimators: string[];
  /** Ids for `history/import` and `history/export`. */
  formats: string[];
  /** Bounds. */
  limits: Limits;
}

/** What changed since `fromVersion`. */
export interface SnapshotDelta {
  /** The tag. */
  kind: "delta";
  /** The version. */
  version: number;
  /** The version the edits start from. */
  fromVersion: number;
  /** How many entries are stored. */
  len: number;
  /** The changes, in order. */
  edits: Edit[];
}

/** Entries themselves. */
export interface SnapshotFull {
  /** The tag. */
  kind: "full";
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Index of the first entry in `entries`. */
  start: number;
  /** The entries; fewer than asked where the message limit would be passed: ask again with `atVersion`. */
  entries: Entry[];
}

/** Read entries: all of them, a window, an older version, or only what changed since a version one holds. */
export interface SnapshotParams {
  /** The name of the history. */
  history: string;
  /** 0-based index of the first entry wanted; negative counts from the end. */
  start?: number | null;
  /** How many entries at most. */
  count?: number | null;
  /** The version the client holds: answer `unchanged` or a `delta` where possible. */
  sinceVersion?: number | null;
  /** Read this version; the newest where left out. */
  atVersion?: number | null;
  /** Leave large pictures, files and audio out: such a block has `blob`, their hash, in place of `data`. */
  references?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a snapshot answers, tagged by `kind`; a client accepts any kind. */
export type SnapshotResult = SnapshotFull | SnapshotDelta | SnapshotUnchanged;

/** The client holds the newest version. */
export interface SnapshotUnchanged {
  /** The tag. */
  kind: "unchanged";
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
}

/** Remove `deleteCount` entries at `start` and insert `entries` there. */
export interface SpliceEdit {
  /** The tag. */
  kind: "splice";
  /** 0-based index. */
  start: number;
  /** How many entries to remove. */
  deleteCount: number;
  /** What to insert. */
  entries: EntryInput[];
}

/** Put one summary in place of the first `dropCount` entries: compaction. What is dropped stays readable. */
export interface SplicePrefixParams {
  /** The name of the history. */
  history: string;
  /** How many stored entries to drop from the front; clamped to the length. */
  dropCount: number;
  /** What takes their place: an entry, a message of any role, or a plain string, which means a `summary` message. */
  summary: SummaryInput;
  /**
   * `exact` cuts where asked and warns when a tool call and its result were parted; `turn` moves the cut back to
   * the start of a turn.
   */
  align?: "exact" | "turn" | null;
  /** Ids of dropped entries to insert again, verbatim and in history order, before the summary. */
  carry?: string[] | null;
  /** The dropped prefix must still be what it was at this version; entries appended behind it are fine. */
  ifPrefix?: number | null;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a splice did. */
export interface SplicePrefixResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** How many entries left the front, those in `carry` included. */
  dropped: number;
  /** What the cut broke, if anything. */
  warnings: SpliceWarning[];
}

/** Something a careful client wants to know about a splice that was carried out. */
export interface SpliceWarning {
  /** What was noticed. */
  kind: "pairSplit" | "turnSplit" | (string & {});
  /** The entry it is about. */
  entryId: string | null;
  /** One sentence for a person. */
  message: string;
}

/** Stored bytes do not read back; other histories keep working. */
export interface StorageCorruptData {
  /** The tag. */
  kind: "storageCorrupt";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The history, where it is one. */
  history: string | null;
  /** What was found. */
  detail: string;
}

/** The disk is full or the medium read-only; nothing was changed. */
export interface StorageReadOnlyData {
  /** The tag. */
  kind: "storageReadOnly";
  /** Whether the same request can succeed later. */
  retryable: false;
}

/** The lock timed out, or the database is down: try again with the same operation id. */
export interface StorageUnavailableData {
  /** The tag. */
  kind: "storageUnavailable";
  /** Whether the same request can succeed later. */
  retryable: true;
  /** The engine. */
  engine: string;
}

/** Where histories are kept. */
export interface StoreInfo {
  /** The engine. */
  engine: "memory" | "sqlite" | "postgresql" | (string & {});
  /** Whether other processes may open the same store. */
  shared: boolean;
}

/** Ask to be told of every change of one history, or of all whose names start with a prefix. */
export interface SubscribeParams {
  /** One history; it need not exist yet. */
  history?: string | null;
  /** All histories whose names start with this text; `""` means all. */
  prefix?: string | null;
  /** Whether changes carry the new entries; without them, only how many there are. */
  entries?: boolean | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The subscription. */
export interface SubscribeResult {
  /** Its id. */
  subscriptionId: string;
  /** Changes after this version follow without a gap; null for a prefix. */
  version: number | null;
}

/** An entry, a message of any role, or a plain string, which means a `summary` message. */
export type SummaryInput = string | EntryInput | MessageInput;

/** What a compaction put in place of older entries; each vendor shows it in its own legal way. */
export interface SummaryMessage {
  /** The tag. */
  role: "summary";
  /** The summary. */
  text: string;
  /** How many entries it stands for. */
  covers?: number | null;
}

/** An instruction of the application. */
export interface SystemMessage {
  /** The tag. */
  role: "system";
  /** The instruction. */
  text: string;
}

/** Plain text. */
export interface TextBlock {
  /** The tag. */
  type: "text";
  /** The text; may be empty. */
  text: string;
}

/** Estimate how many input tokens the history costs, without a network. */
export interface TokenEstimateParams {
  /** The name of the history. */
  history: string;
  /** An id from `sidecar/info`; the default where omitted. */
  estimator?: string | null;
  /** Picks the profile, with `model`. */
  vendor?: string | null;
  /** The vendor's model id. */
  model?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The estimate, and how it came about. */
export interface TokenEstimateResult {
  /** The version. */
  version: number;
  /** The estimate; null only for an empty or absent history without a baseline. */
  tokens: number | null;
  /** The estimator that was used. */
  estimator: string;
  /** The last recorded total. */
  baseline: number | null;
  /** Estimated tokens of what came after it. */
  delta: number;
  /** Lower bound that the estimator stands for. */
  low: number | null;
  /** Upper bound. */
  high: number | null;
  /** `exact`, `recorded+delta`, `rebased` (kept through a splice) or `heuristic`. */
  basis: "exact" | "recorded+delta" | "rebased" | "heuristic" | (string & {});
  /** Tokens of the request that are not in the history: tools, system parameter. */
  overhead: number;
  /** Calibration: counted by the vendor over estimated. */
  ratio: number;
  /** The tokenizer profile that was used. */
  profile: string | null;
}

/** A request of the model to run a tool. */
export interface ToolCall {
  /** The call id that the result names. */
  id: string;
  /** The tool. */
  name: string;
  /** The JSON text exactly as the model produced it, perhaps unfinished. */
  arguments: string;
  /** The vendor's signature over the call. */
  signature?: string | null;
  /** The vendor's item id. */
  itemId?: string | null;
}

/** A request of the model to run a tool. */
export interface ToolCallInput {
  /** The call id that the result names. */
  id: string;
  /** The tool. */
  name: string;
  /** The arguments; left out where there are none. */
  arguments?: Arguments | null;
  /** The vendor's signature over the call. */
  signature?: string | null;
  /** The vendor's item id. */
  itemId?: string | null;
}

/** The result of one tool call. */
export interface ToolMessage {
  /** The tag. */
  role: "tool";
  /** The id of the call that it answers. */
  callId: string;
  /** What came out. */
  content: Block[];
  /** The tool. */
  name?: string;
  /** The tool failed; left out where it did not. */
  isError?: boolean;
}

/** The result of one tool call. */
export interface ToolMessageInput {
  /** The tag. */
  role: "tool";
  /** The id of the call that it answers. */
  callId: string;
  /** What came out. */
  content: Content;
  /** The tool. */
  name?: string | null;
  /** The tool failed. */
  isError?: boolean | null;
}

/** Cut the history back. A `len` at or above the length changes nothing and keeps version and baseline. */
export interface TruncateParams {
  /** The name of the history. */
  history: string;
  /** How many entries to keep. */
  len?: number | null;
  /** Keep everything up to and including this entry. */
  afterEntry?: string | null;
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What a truncate did. */
export interface TruncateResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
  /** How many entries left the end. */
  dropped: number;
}

/** Take elision markers away, so that the entries are shown whole again. */
export interface UnelideParams {
  /** The name of the history. */
  history: string;
  /** The entries to show again. */
  entryIds: string[];
  /** Change only if the history is at this version; 0 means that it must not exist. */
  ifVersion?: number | null;
  /** A key the client makes: a repeat with equal params answers the first result and changes nothing. */
  operationId?: string | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** What it did. */
export interface UnelideResult {
  /** The name of the history. */
  history: string;
  /** The version. */
  version: number;
  /** How many entries are stored. */
  len: number;
  /** Estimated input tokens; null where there is nothing to estimate. */
  tokenEstimate: number | null;
  /** The answer of an earlier request with the same `operationId`; nothing was changed now. */
  replayed: boolean;
}

/** No vendor has this id. */
export interface UnknownVendorData {
  /** The tag. */
  kind: "unknownVendor";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The id. */
  vendor: string;
  /** The ids there are. */
  known: string[];
}

/** The text or body is nothing like the format. */
export interface UnparsableData {
  /** The tag. */
  kind: "unparsable";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** JSON Pointer or line. */
  path: string;
  /** What is wrong. */
  message: string;
}

/** Something would be lost and `onLoss` is `error`, or no rule can repair the list. */
export interface UnprojectableData {
  /** The tag. */
  kind: "unprojectable";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** What stands in the way. */
  violations: Record<string, unknown>[];
}

/** End a subscription; no notification for it follows the answer. */
export interface UnsubscribeParams {
  /** The id that `history/subscribe` gave. */
  subscriptionId: string;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** Empty. */
export interface UnsubscribeResult {
}

/** Input of a person, or of the application on a person's behalf. */
export interface UserMessage {
  /** The tag. */
  role: "user";
  /** What was said. */
  content: Block[];
}

/** Input of a person, or of the application on a person's behalf. */
export interface UserMessageInput {
  /** The tag. */
  role: "user";
  /** What was said. */
  content: Content;
}

/** A part in the shape of one vendor, passed through verbatim to that vendor only. */
export interface VendorBlock {
  /** The tag. */
  type: "vendor";
  /** The vendor id. */
  vendor: string;
  /** The part as the vendor writes it. */
  value: unknown;
}

/** One vendor. */
export interface VendorInfo {
  /** Its id. */
  id: "openai-chat" | "openai-responses" | "anthropic-messages" | "gemini" | "bedrock-converse" | "mistral" | "deepseek" | "kimi" | "qwen" | "glm" | "openrouter" | "ollama" | "cohere" | "xai" | "groq" | "cerebras" | "azure-openai" | "openai-compatible" | (string & {});
  /** Its name for people. */
  title: string;
  /** The interface it speaks. */
  api: string;
  /** Its rules as data. */
  rules: Record<string, unknown>;
  /** Other ids that mean it. */
  aliases: string[];
}

/** List the vendors. */
export interface VendorsParams {
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** The vendors. */
export interface VendorsResult {
  /** The vendors, by id. */
  data: VendorInfo[];
}

/** One version. */
export interface VersionInfo {
  /** The version. */
  version: number;
  /** Which kind of change made it: the verb of the method. */
  kind: "append" | "splicePrefix" | "replace" | "truncate" | "applyEdits" | "revert" | "rename" | "fork" | "elide" | "unelide" | "import" | "delete" | (string & {});
  /** When, Unix milliseconds. */
  ts: number;
  /** How many entries are stored. */
  len: number;
  /** Who made it. */
  origin: ChangeOrigin;
}

/** `ifVersion` or `ifPrefix` did not hold and nothing changed: read again, then try again. */
export interface VersionMismatchData {
  /** The tag. */
  kind: "versionMismatch";
  /** Whether the same request can succeed later. */
  retryable: true;
  /** The name. */
  history: string;
  /** What the client asked for. */
  expected: number;
  /** What it is. */
  actual: number;
}

/** The version never was, or was pruned. */
export interface VersionUnavailableData {
  /** The tag. */
  kind: "versionUnavailable";
  /** Whether the same request can succeed later. */
  retryable: false;
  /** The name. */
  history: string;
  /** What was asked for. */
  version: number;
  /** The oldest version that can be read. */
  oldest: number;
}

/** List the versions of a history, newest first. */
export interface VersionsParams {
  /** The name of the history. */
  history: string;
  /** Where to go on: `nextCursor` of the page before. */
  cursor?: string | null;
  /** How many items at most. */
  limit?: number | null;
  /** Free data; keys carry a prefix, such as `example.com/x`. */
  _meta?: Record<string, unknown> | null;
}

/** One page of versions. */
export interface VersionsResult {
  /** The versions, newest first. */
  data: VersionInfo[];
  /** Where the next page starts; null on the last one. */
  nextCursor: string | null;
}

/** Something a vendor would refuse. */
export interface Violation {
  /** The vendor. */
  vendor: string;
  /** The rule, such as `X1`. */
  rule: string;
  /** How bad it is. */
  severity: "info" | "warning" | "error" | (string & {});
  /** The entry. */
  entryId: string | null;
  /** Its 0-based index; -1 where it is about no one entry. */
  index: number;
  /** One sentence for a person. */
  message: string;
  /** Ways to mend it. */
  fixes: Fix[];
}

/** What projection can do. */
export interface WireCapability {
  /** Ids of the vendors. */
  vendors: string[];
}

/** The code of every `error.data.kind`. */
export const ERROR_CODES = {
  invalidParams: -32602,
  historyNotFound: 1001,
  historyExists: 1002,
  versionMismatch: 1003,
  invalidName: 1004,
  operationReused: 1005,
  entryNotFound: 1006,
  limitExceeded: 1007,
  versionUnavailable: 1008,
  entryExists: 1009,
  unknownVendor: 1010,
  unprojectable: 1011,
  unparsable: 1012,
  storageUnavailable: 1020,
  storageCorrupt: 1021,
  storageReadOnly: 1022,
  overloaded: 1023,
  cursorInvalid: 1031,
} as const;

/** Requests to the server. */
export interface Requests {
  "sidecar/info": { params: SidecarInfoParams; result: SidecarInfoResult };
  "rpc.discover": { params: DiscoverParams; result: DiscoverResult };
  "history/append": { params: AppendParams; result: AppendResult };
  "history/clearInjected": { params: ClearInjectedParams; result: ClearInjectedResult };
  "history/snapshot": { params: SnapshotParams; result: SnapshotResult };
  "history/splicePrefix": { params: SplicePrefixParams; result: SplicePrefixResult };
  "history/replace": { params: ReplaceParams; result: ReplaceResult };
  "history/truncate": { params: TruncateParams; result: TruncateResult };
  "history/len": { params: LenParams; result: LenResult };
  "history/recordInputTokens": { params: RecordInputTokensParams; result: RecordInputTokensResult };
  "history/tokenEstimate": { params: TokenEstimateParams; result: TokenEstimateResult };
  "history/list": { params: ListParams; result: ListResult };
  "history/info": { params: HistoryInfoParams; result: HistoryInfo };
  "history/setMetadata": { params: SetMetadataParams; result: SetMetadataResult };
  "history/delete": { params: DeleteParams; result: DeleteResult };
  "history/rename": { params: RenameParams; result: RenameResult };
  "history/fork": { params: ForkParams; result: ForkResult };
  "history/applyEdits": { params: ApplyEditsParams; result: ApplyEditsResult };
  "history/elide": { params: ElideParams; result: ElideResult };
  "history/unelide": { params: UnelideParams; result: UnelideResult };
  "history/outline": { params: OutlineParams; result: OutlineResult };
  "history/render": { params: RenderParams; result: RenderResult };
  "history/versions": { params: VersionsParams; result: VersionsResult };
  "history/revert": { params: RevertParams; result: RevertResult };
  "history/prune": { params: PruneParams; result: PruneResult };
  "history/search": { params: SearchParams; result: SearchResult };
  "history/planSplice": { params: PlanSpliceParams; result: PlanSpliceResult };
  "history/subscribe": { params: SubscribeParams; result: SubscribeResult };
  "history/unsubscribe": { params: UnsubscribeParams; result: UnsubscribeResult };
  "history/import": { params: ImportParams; result: ImportResult };
  "history/export": { params: ExportParams; result: ExportResult };
  "wire/project": { params: ProjectParams; result: ProjectResult };
  "wire/check": { params: CheckParams; result: CheckResult };
  "wire/parse": { params: ParseParams; result: ParseResult };
  "wire/vendors": { params: VendorsParams; result: VendorsResult };
}

/** Notifications to the client. */
export interface Notifications {
  "history/didChange": DidChangeNotification;
  "history/didDelete": DidDeleteNotification;
}
