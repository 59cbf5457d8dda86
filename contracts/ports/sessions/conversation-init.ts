/** The question to an agent's owner before a call (docs/webhooks.md "Before a call"). */

/** The event that it is sent as, and its name in the record: no tool has one with a dot. */
export const INIT_EVENT = 'conversation.init';

export interface InitQuestion {
  readonly agentId: string;
  readonly url: string;
  /** Whether there is a secret for it. */
  readonly signed: boolean;
  readonly timeoutMs: number;
  readonly body: string;
}

/** The body of the answer, or why there is none, as the end of a sentence. */
export type InitReply = { readonly text: string } | { readonly error: string };

/** Never rejects. */
export type AskBeforeCall = (question: InitQuestion) => Promise<InitReply>;

/** What came of it, for the record. */
export interface InitOutcome {
  readonly ok: boolean;
  /** The question. */
  readonly input: string;
  /** The variables as JSON, or why the call goes on without them. */
  readonly output: string;
  readonly latencyMs: number;
}
