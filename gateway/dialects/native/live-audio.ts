/**
 * How a live socket sends the audio of a synthesis (docs/contract/native.md 3): bare, or with the times of its words and,
 * as the clients of that socket expect it, an `error` event where the synthesis fails.
 */
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { Speech, StreamingSynthesisRequest } from '../../../contracts/ports/speech/speech.js';
import type { Socket } from '../../server/port.js';
import { type PumpEnd, pump } from '../../server/pump.js';
import { audioFrame, errorFrame, timedFrame } from './live-frames.js';

interface LiveSynthesis {
  readonly request: StreamingSynthesisRequest;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

export interface LiveAudio {
  /** Carries the audio to the socket; `elapsed`: milliseconds since the synthesis started. Never rejects. */
  carry(speech: Speech, synthesis: LiveSynthesis, socket: Socket, elapsed: () => number): Promise<PumpEnd>;
  /** The frame that comes before the `finish` of a failure; undefined if there is none. */
  readonly failure: ((message: string) => Uint8Array) | undefined;
}

export const BARE_AUDIO: LiveAudio = {
  carry: (speech, { request, caller, signal }, socket, elapsed) =>
    pump(speech.synthesize(request, caller, signal), socket, signal, (audio) =>
      socket.send(audioFrame(audio, elapsed())),
    ),
  failure: undefined,
};

export const TIMED_AUDIO: LiveAudio = {
  carry: (speech, { request, caller, signal }, socket, elapsed) =>
    pump(speech.synthesizeTimed(request, caller, signal), socket, signal, (chunk) =>
      socket.send(timedFrame(chunk, elapsed())),
    ),
  failure: errorFrame,
};
