/** The shapes of the protocol that the extension reads. It never writes back an entry it has read. */

export interface HistoryInfo {
  history: string;
  version: number;
  len: number;
  title: string | null;
  tags: string[];
  updatedAt: number;
  tokenEstimate: number | null;
}

export interface OutlineItem {
  id: string;
  index: number;
  role: string;
  kind: string;
  line: string;
  tokens: number | null;
  ts: number | null;
  elided: boolean;
  pinned: boolean;
}

export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

export interface Outline {
  version: number;
  len: number;
  data: OutlineItem[];
}

export interface SearchHit {
  history: string;
  entryId: string;
  index: number;
  snippet: string;
}

export interface VersionInfo {
  version: number;
  kind: string;
  ts: number;
  len: number;
}

export interface VendorInfo {
  id: string;
  title: string;
}

/** What the command `history.entryAt` answers. */
export interface EntryAt {
  history: string;
  version: number;
  entryId: string;
  index: number;
  role: string;
  startLine: number;
  endLine: number;
  texts: { block: number | null; text: string }[];
}

export const PINNED = 'pinned';

/** The address of a transcript, of a projection, or of the stored entries. */
export function address(history: string, form = 'md'): string {
  return `history:///${history}.${form}`;
}

/** The history that a `history:` path names. */
export function historyOf(path: string): string | undefined {
  const match = /^\/?(.+?)(?:\.md|\.jsonl|\.[^./]+\.json)$/.exec(path);
  return match?.[1];
}
