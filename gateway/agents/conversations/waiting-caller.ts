/** A caller whom the agent transfers to somebody else: told so first, then on hold until the transfer is decided. */
import type { Clock } from '../../../contracts/clock.js';
import type { CallEvent } from '../../../contracts/ports/calls/calls.js';
import type { ChatModel } from '../../../contracts/ports/chat.js';
import type { Briefing } from '../../../contracts/phone/transfers.js';
import { type BriefingParts, briefingOf } from './briefing.js';
import type { Consulting } from './tools/transfer-call.js';
import type { Utterance } from './utterance.js';

export interface ConversationNow extends Pick<BriefingParts, 'plan' | 'said'> {
  readonly clock: Clock;
  readonly chat: Pick<ChatModel, 'hasTokens' | 'contextTokens'>;
  readonly ask: NonNullable<BriefingParts['ask']>;
  /** The utterance of the running job. */
  readonly utterance: Utterance | undefined;
}

type Speech = Extract<CallEvent, { readonly kind: 'speech' }>;

export class WaitingCaller implements Consulting {
  /** Transfers that are not decided yet. */
  #holds = 0;
  /** The caller's voice that began on hold and has not ended. */
  #voice: Speech | undefined;

  /** `listen`: takes the voice that is for the agent. */
  constructor(
    private readonly now: () => ConversationNow,
    private readonly listen: (event: Speech) => void,
  ) {}

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
    const asked = chat.hasTokens === false ? undefined : ask;
    return briefingOf({ ...parts, ask: asked, contextTokens: chat.contextTokens }, asks, signal);
  }

  /** Voice that began on hold is for the agent from the end of the hold. */
  speech(event: Speech): void {
    const isHeld = event.active && this.onHold;
    this.#voice = isHeld ? event : undefined;
    if (!isHeld) this.listen(event);
  }

  hold(): () => void {
    this.#holds += 1;
    return () => {
      this.#holds -= 1;
      if (this.#voice && !this.onHold) this.speech(this.#voice);
    };
  }
}
