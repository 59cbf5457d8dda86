/** A simulated caller's media: one WebRTC connection with a microphone, the agent's voice, and a channel for data. */
import { Audio, type DataChannel, PeerConnection, type Track } from 'node-datachannel';
import { withoutCandidates } from '../candidates.js';
import { RELIABLE } from '../data.js';
import { OPUS_TYPE } from '../rtp.js';

export interface CallerPeerEvents {
  /** The offer is ready. The candidates are sent after the answer, as in `Peer.offer`; the other side does not know this caller before. */
  gathered(offer: string, candidates: readonly string[]): void;
  /** A packet of the agent's voice. */
  packet(bytes: Buffer): void;
  /** A message of the data channel. */
  message(bytes: Uint8Array): void;
}

const CANDIDATES = /^a=(candidate:.*?)\r?$/gm;

type Apart = readonly [sdp: string, candidates: readonly string[]];

const apart = (sdp: string): Apart => [
  withoutCandidates(sdp),
  [...sdp.matchAll(CANDIDATES)].map(([, candidate = '']) => candidate),
];

function closeQuietly(part: { close(): void }): void {
  try {
    part.close();
  } catch {
    // It had closed already.
  }
}

const forgetClosed = <T extends DataChannel | Track>(part: T): T => {
  part.onClosed(() => undefined);
  return part;
};

export class CallerPeer {
  readonly #connection = new PeerConnection('test caller', { iceServers: [], disableAutoNegotiation: true });
  // Referenced, as the library drops tracks without references.
  readonly #in: Track;
  readonly #out: Track;
  readonly #data: DataChannel;
  #isAnswered = false;
  #isClosed = false;

  constructor(ssrc: number, events: CallerPeerEvents) {
    const [listening, speaking] = [new Audio('0', 'RecvOnly'), new Audio('1', 'SendOnly')];
    for (const line of [listening, speaking]) line.addOpusCodec(OPUS_TYPE);
    speaking.addSSRC(ssrc, 'caller', 'stream', 'track');
    this.#in = forgetClosed(this.#connection.addTrack(listening));
    this.#out = forgetClosed(this.#connection.addTrack(speaking));
    this.#data = forgetClosed(this.#connection.createDataChannel(RELIABLE));
    const told =
      <T>(event: (value: T) => void) =>
      (value: T): void => {
        if (!this.#isClosed) event(value);
      };
    this.#in.onMessage(told((bytes: Buffer) => events.packet(bytes)));
    this.#data.onMessage((message) => {
      if (typeof message !== 'string' && !this.#isClosed) events.message(new Uint8Array(message));
    });
    this.#connection.onGatheringStateChange(
      told((state: string) => {
        const { sdp = '' } = this.#connection.localDescription() ?? {};
        if (state === 'complete') events.gathered(...apart(sdp));
      }),
    );
    this.#connection.setLocalDescription('offer');
  }

  /** Only the first answer counts, as the library cannot change its lines. */
  accept(answer: string): void {
    if (this.#isAnswered || this.#isClosed) return;
    this.#isAnswered = true;
    const [sdp, candidates] = apart(answer);
    this.#connection.setRemoteDescription(sdp, 'answer');
    for (const candidate of candidates) this.addCandidate(candidate);
  }

  addCandidate(candidate: string, mid = '0'): void {
    if (this.#isClosed) return;
    try {
      this.#connection.addRemoteCandidate(candidate, mid);
    } catch {
      // A kind of candidate that the library does not know.
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#data.isOpen() && this.#out.isOpen();
  }

  /** Sends a packet of the caller's voice, if the line is open. */
  speak(packet: Buffer): void {
    try {
      if (this.isOpen) this.#out.sendMessageBinary(packet);
    } catch {
      // The far side closed the line between the check and the send.
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // The connection first, as in media/embedded/peer.ts.
    for (const part of [this.#connection, this.#data, this.#in, this.#out]) closeQuietly(part);
  }
}
