/** A caller whom the agent transfers to somebody else: told so first, then on hold until the transfer is decided. */
import type { Clock } from '../../contracts/clock.js';
import type { ChatModel } from '../../contracts/ports/chat.js';
import type { Briefing } from '../../contracts/transfers.js';
import { type BriefingParts, briefingOf } from './briefing.js';
import type { Consulting } from './transfer-call.js';
import type { Utterance } from './utterance.js';

/** The conversation as it is now. */
export interface Present extends Pick<BriefingParts, 'plan' | 'said'> {
  readonly clock: Clock;
  readonly chat: Pick<ChatModel, 'hasTokens'>;
  readonly ask: NonNullable<BriefingParts['ask']>;
  /** The utterance of the running job. */
  readonly utterance: Utterance | undefined;
}

export class WaitingCaller implements Consulting {
  /** Transfers that are not decided yet. */
  #holds = 0;

  constructor(private readonly now: () => Present) {}

  /** While true, nothing that the caller says is for the agent. */
  get onHold(): boolean {
    return this.#holds > 0;
  }

  async heard(): Promise<void> {
    const { utterance, clock } = this.now();
    await utterance?.untilHeard(clock);
  }

  briefing(asks: boolean, signal: AbortSignal): Promise<Briefing> {
    const { chat, ask, ...parts } = this.now();
    // A chat without tokens is no language model, and cannot write a summary.
    return briefingOf({ ...parts, ask: chat.hasTokens === false ? undefined : ask }, asks, signal);
  }

  hold(): () => void {
    this.#holds += 1;
    return () => void (this.#holds -= 1);
  }
}
