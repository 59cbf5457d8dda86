/** A caller whom the agent connects to somebody else: told so first, and on hold until that is decided. */
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
  /** What is being said. */
  readonly utterance: Utterance | undefined;
}

export class WaitingCaller implements Consulting {
  /** Calls of the tool that are being decided. */
  #holds = 0;

  constructor(private readonly now: () => Present) {}

  /** What is said meanwhile is not for the agent. */
  get onHold(): boolean {
    return this.#holds > 0;
  }

  async heard(): Promise<void> {
    const { utterance, clock } = this.now();
    await utterance?.untilHeard(clock);
  }

  briefing(asks: boolean, signal: AbortSignal): Promise<Briefing> {
    const { chat, ask, ...parts } = this.now();
    // What is no language model writes no summary.
    return briefingOf({ ...parts, ask: chat.hasTokens === false ? undefined : ask }, asks, signal);
  }

  hold(): () => void {
    this.#holds += 1;
    return () => void (this.#holds -= 1);
  }
}
