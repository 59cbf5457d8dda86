/**
 * A call on a media stream, and the meaning of the stream's end. A provider that is asked to move the call ends the stream as if
 * the caller had hung up: which of the two it was is known only once it has answered.
 */
import type { PhoneCall } from '../../../contracts/ports/calls/calls.js';
import type { PhoneProvider } from '../../../contracts/phone/phone.js';
import type { OwnedCall } from '../calls/owned-call.js';

/** A call as its stream sees it. */
export interface Streamed {
  readonly workspaceId: string;
  readonly media: PhoneCall;
  /** The stream has ended normally. */
  hungUp(): void;
  /** The stream broke off: there is no way back to the caller. */
  broken(): void;
}

/** A call as its provider knows it, and our address for the provider. */
export interface Leg {
  readonly provider: PhoneProvider;
  readonly callId: string;
  readonly baseUrl: string;
}

export class SessionCall implements Streamed {
  #owned: Pick<OwnedCall, 'closedBy'> | undefined;
  #moving: Promise<boolean> = Promise.resolve(false);

  constructor(
    readonly media: PhoneCall,
    readonly workspaceId: string,
  ) {}

  begin(owned: Pick<OwnedCall, 'closedBy'>): void {
    this.#owned = owned;
  }

  /** The provider is asked to move the call from its stream. `asked`: whether it does, which ends the agent's part. */
  async move(asked: Promise<boolean>, cause: 'connecting' | 'transferred'): Promise<void> {
    // If the request failed, the call has not moved.
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
