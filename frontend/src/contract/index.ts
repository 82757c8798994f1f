/** What crosses between page and server. The types are generated; the names below only pick from them. */
import type { Methods, StreamEvents, WireObjects } from "./generated";

export type * from "./generated";

/** `search/find`, `answers/ask`, …: the path of a call below `/api/v1/`. */
export type MethodName = keyof Methods;

export type RequestOf<M extends MethodName> = Methods[M]["request"];
export type ReplyOf<M extends MethodName> = Methods[M]["reply"];

/** `citation`, `answer`, …: `schema_version` without its number. */
export type ObjectName = keyof WireObjects;

/** One event of a streamed answer. */
export type StreamEvent = {
  [Name in keyof StreamEvents]: { name: Name; data: StreamEvents[Name] };
}[keyof StreamEvents];

/** Whether a citation is of a kind this page knows; a later server may know more. */
export function isKnownKind(kind: string): kind is WireObjects["citation"]["kind"] {
  return Object.hasOwn(CITATION_KINDS, kind);
}

const CITATION_KINDS: Record<WireObjects["citation"]["kind"], true> = {
  line: true,
  page: true,
  region: true,
  caption: true,
  time: true,
  sheet: true,
  slide: true,
  message: true,
  section: true,
  cell: true,
};
