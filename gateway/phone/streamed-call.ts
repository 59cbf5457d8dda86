/**
 * A call on a media stream, and what the end of the stream means. A provider that is asked to take the call elsewhere ends the
 * stream as if the caller had hung up: until it has answered, nobody knows.
 */
import type { PhoneCall } from '../../contracts/ports/calls.js';
import type { PhoneProvider } from '../../contracts/phone.js';
import type { OwnedCall } from '../calls/owned-call.js';

/** As its stream sees it. */
export interface Streamed {
  readonly media: PhoneCall;
  /** The stream has ended in good order. */
  hungUp(): void;
  /** It was cut off: there is no way back to the caller. */
  broken(): void;
}

/** A call as its provider knows it, and the address that the provider reaches us by. */
export interface Leg {
  readonly provider: PhoneProvider;
  readonly callId: string;
  readonly baseUrl: string;
}

/** Of a session. */
export class SessionCall implements Streamed {
  #owned: Pick<OwnedCall, 'closedBy'> | undefined;
  #moving: Promise<boolean> = Promise.resolve(false);

  constructor(readonly media: PhoneCall) {}

  begin(owned: Pick<OwnedCall, 'closedBy'>): void {
    this.#owned = owned;
  }

  /** The provider is asked to take the call from its stream. `asked`: whether it does; the agent's part ends then. */
  async move(asked: Promise<boolean>, cause: 'connecting' | 'transferred'): Promise<void> {
    // Where nobody could be asked, nothing has moved.
    this.#moving = asked.catch(() => false);
    if (await asked) this.#owned?.closedBy(cause);
  }

  hungUp(): void {
    this.#unlessMoved(() => this.media.hungUp());
  }

  broken(): void {
    this.#unlessMoved(() => this.#owned?.closedBy('line'));
  }

  #unlessMoved(ends: () => void): void {
    void this.#moving.then((moved) => {
      if (!moved) ends();
    });
  }
}
