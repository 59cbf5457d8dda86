/**
 * One socket of `stream-input` (docs/contract/protocol-b.md 3): all of its text is one context, which an empty text
 * ends. Any error ends the socket.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type { Socket } from '../../../server/port.js';
import type { ProtocolBParts } from '../parts.js';
import type { SpeechClientFrame } from './client-frames.js';
import { type SpeechHandshake, SpeechConnection } from './connection.js';
import type { SpeechContext } from './context.js';
import { LATE_SCHEDULE, LATE_SETTINGS, silence } from './faults.js';
import { ContextFrames } from './server-frames.js';

/** With several contexts they end one, or the socket; here there is one. */
const ENDS = ['close_context', 'close_socket'] as const;

const FORM = { frames: new ContextFrames(undefined), phrases: false };

export class StreamInputSession {
  readonly connection: SpeechConnection;
  readonly #silence;
  #context: SpeechContext | undefined;

  constructor(socket: Socket, handshake: SpeechHandshake, parts: ProtocolBParts) {
    this.#silence = silence(handshake.settings.inactivityMs);
    this.connection = new SpeechConnection(socket, handshake, parts, {
      frame: (frame, caller) => this.#take(frame, caller),
      gone: () => this.#context?.leave(),
    });
  }

  #take(frame: SpeechClientFrame, caller: Caller): void {
    const late = this.#context && this.#lateIn(frame, this.#context);
    if (late) return this.connection.refuse(late);
    this.#context ??= this.#open(frame, caller);
    this.#context?.take(frame);
    if (frame.text === '' || ENDS.some((flag) => frame.flags.has(flag))) this.#leave();
  }

  /** What is wrong with a frame that sets what the context has otherwise. Repeating the same is allowed, as clients do. */
  #lateIn({ voiceSettings, schedule }: SpeechClientFrame, context: SpeechContext): SocketFault | undefined {
    if (!context.hasSchedule(schedule)) return LATE_SCHEDULE;
    if (voiceSettings === undefined) return undefined;
    const wanted = this.connection.options(voiceSettings);
    return wanted !== undefined && !context.speaksWith(wanted) ? LATE_SETTINGS : undefined;
  }

  #open({ voiceSettings, schedule }: SpeechClientFrame, caller: Caller): SpeechContext | undefined {
    const connection = this.connection;
    const options = connection.options(voiceSettings);
    if (!options) return undefined;
    return connection.open({ options, schedule }, caller, FORM, {
      idle: () => connection.refuse(this.#silence),
      finished: () => {
        this.#context = undefined;
        connection.emptied();
      },
      refused: (fault, status) => {
        connection.failed(status);
        connection.refuse(fault);
      },
    });
  }

  #leave(): void {
    this.connection.leave();
    this.#context?.end();
  }
}
