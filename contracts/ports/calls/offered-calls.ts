/**
 * Calls whose client offers a WebRTC connection in one request, and gets its answer (docs/contract/agent-realtime.md 7): audio goes by RTP,
 * events by one data channel.
 */
import type { MemoryShare } from '../accounts/memory.js';
import type { CallOptions, PhoneCall, PhoneLink } from './calls.js';

/** The data channel that carries the events, as its clients name it. */
export const EVENT_CHANNEL = 'oai-events';

export interface ConnectionOffer {
  /** The client's session description. */
  readonly sdp: string;
  /** The client's address if it is certain and private; otherwise empty. */
  readonly from: string;
}

/** The client's data channel, for receiving. */
export interface ChannelEvents {
  /** Charged for the events that wait for the client. */
  readonly share: MemoryShare;
  /** It is open. Called once. */
  opened(): void;
  event(text: string): void;
  /** The connection is gone, from whichever side. Called once, last. */
  closed(): void;
}

/** A connection with a client, whose call may begin. */
export interface OfferedLine {
  /** The answer to the offer. Errors: `invalid_request` if it cannot be answered, `engine_busy`, `engine_lost`. */
  readonly answer: Promise<string>;
  /** An event for the client; dropped if the channel is not open. */
  send(text: string): void;
  /** Begins the call: the user is heard from now on, and what the agent says goes out by RTP. Called once. */
  begin(link: Pick<PhoneLink, 'speak' | 'close'>): PhoneCall;
  /** Closes the connection. Idempotent. */
  end(): void;
}

export interface OfferedMedia {
  /** Never blocks. */
  openLine(options: CallOptions & { readonly offer: ConnectionOffer }, channel: ChannelEvents): OfferedLine;
}
