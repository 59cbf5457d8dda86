/**
 * How the two sockets read the same frames (protocol-b.md section 3): `stream-input` is one context, and an empty
 * text its end; on `multi-stream-input` frames name their context, an empty text keeps it alive, and contexts and
 * the socket are closed by name.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import type { ClientFrame } from './client-frames.js';
import type { SpeechContext } from './context.js';
import { LATE_SETTINGS } from './faults.js';

/** What a manner may do to its socket. */
export interface SocketHands {
  find(name: string): SpeechContext | undefined;
  /** A new context; undefined where it is refused, and the socket with it. */
  open(name: string, frame: ClientFrame): SpeechContext | undefined;
  /** Whether the frame asks for another voice than the context has. */
  differs(frame: ClientFrame, context: SpeechContext): boolean;
  end(name: string): void;
  /** All contexts are ended, and the socket closes after them. */
  leave(): void;
  refuse(fault: SocketFault): void;
}

export interface Manner {
  readonly path: string;
  /** What frames call the context by that name; undefined where they do not. */
  contextId(name: string): string | undefined;
  /** Each generation is a phrase of its own: its clients join the characters of all of them as they are. */
  readonly phrases: boolean;
  /** Whether a failed synthesis ends its own context only. */
  readonly apart: boolean;
  take(frame: ClientFrame, hands: SocketHands): void;
  /** A context has heard nothing for too long. */
  idle(name: string, hands: SocketHands, silence: SocketFault): void;
}

const ONLY = '';
/** Of frames that name none. */
const UNNAMED = 'default';

export const SINGLE: Manner = {
  path: 'stream-input',
  contextId: () => undefined,
  phrases: false,
  apart: false,
  take(frame, hands) {
    const known = hands.find(ONLY);
    if (known && hands.differs(frame, known)) return hands.refuse(LATE_SETTINGS);
    const context = known ?? hands.open(ONLY, frame);
    context?.take(frame);
    if (frame.text === '') hands.leave();
  },
  idle: (_name, hands, silence) => hands.refuse(silence),
};

export const MULTIPLE: Manner = {
  path: 'multi-stream-input',
  contextId: (name) => name,
  phrases: true,
  apart: true,
  take(frame, hands) {
    const name = frame.contextId ?? UNNAMED;
    const known = hands.find(name);
    if (known && frame.voiceSettings !== undefined) return hands.refuse(LATE_SETTINGS);
    // Nothing is opened to be kept alive.
    const context = known ?? (frame.text ? hands.open(name, frame) : undefined);
    context?.take(frame);
    if (frame.flags.has('close_socket')) hands.leave();
    else if (frame.flags.has('close_context')) hands.end(name);
  },
  idle: (name, hands) => hands.end(name),
};
