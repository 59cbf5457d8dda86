/** Reads the text of documents that are none themselves. */

/** By the ending of a file's name. */
export const DOCUMENT_KINDS = ['pdf', 'html'] as const;
export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

export interface DocumentReader {
  /**
   * Its text, with headings as Markdown has them. Errors: `validation_failed` with a sentence about the source: it is none of the kind,
   * protected, too large, has no text, or takes too long; `overloaded` if too many wait.
   */
  textOf(kind: DocumentKind, bytes: Uint8Array, workspaceId: string): Promise<string>;
}
