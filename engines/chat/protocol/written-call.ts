/** A tool call as a model has written it in its text, before anybody knows whether there is such a tool. */
export interface WrittenCall {
  readonly name: string;
  /** An object, or the text of one. */
  readonly arguments: unknown;
}

/** Reads what stands between two marks; gives no calls for anything else. */
export type ReadCalls = (text: string) => readonly WrittenCall[];
