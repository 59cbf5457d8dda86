/** A caller's media: one WebRTC connection with a microphone, the agent's voice, and a channel for data. */
import { Audio, type DataChannel, PeerConnection, type Track } from 'node-datachannel';
import { closeQuietly, type ConnectionHandlers, OPUS, sendQuietly, SSRC } from './connection.js';

/** A description without its candidates, which are told behind the answer: before it nobody knows whom to hear. */
const apart = (sdp: string): { readonly sdp: string; readonly candidates: readonly string[] } => ({
  sdp: sdp.replace(/^a=(?:candidate:.*|end-of-candidates)\r\n/gm, ''),
  candidates: [...sdp.matchAll(/^a=(candidate:.*)\r$/gm)].map(([, candidate = '']) => candidate),
});

export class Peer {
  readonly #connection = new PeerConnection('caller', { iceServers: [], disableAutoNegotiation: true });
  // Kept: the library forgets a track that nobody holds.
  readonly #in: Track;
  readonly #out: Track;
  readonly #data: DataChannel;
  #isAnswered = false;
  offer = '';
  candidates: readonly string[] = [];

  constructor({ hear, receive }: ConnectionHandlers) {
    const [listening, speaking] = [new Audio('0', 'RecvOnly'), new Audio('1', 'SendOnly')];
    for (const line of [listening, speaking]) line.addOpusCodec(OPUS);
    speaking.addSSRC(SSRC, 'caller', 'stream', 'track');
    this.#in = this.#connection.addTrack(listening);
    this.#in.onMessage(hear);
    this.#out = this.#connection.addTrack(speaking);
    this.#data = this.#connection.createDataChannel('_reliable');
    this.#data.onMessage((bytes) => receive(bytes as Buffer));
  }

  /** Makes the offer, and finds the candidates. */
  async gather(): Promise<void> {
    const gathered = new Promise<void>((resolve) =>
      this.#connection.onGatheringStateChange((state) => state === 'complete' && resolve()),
    );
    this.#connection.setLocalDescription('offer');
    await gathered;
    const { sdp, candidates } = apart(this.#connection.localDescription()?.sdp ?? '');
    this.offer = sdp;
    this.candidates = candidates;
  }

  /** True where it is the first answer. */
  accept(answer: string): boolean {
    if (this.#isAnswered) return false;
    this.#isAnswered = true;
    const { sdp, candidates } = apart(answer);
    this.#connection.setRemoteDescription(sdp, 'answer');
    for (const candidate of candidates) this.addCandidate(candidate, '0');
    return true;
  }

  addCandidate(candidate: string, mid: string): void {
    this.#connection.addRemoteCandidate(candidate, mid);
  }

  get isOpen(): boolean {
    return this.#data.isOpen() && this.#out.isOpen();
  }

  speak(packet: Buffer): void {
    sendQuietly(this.#out, packet);
  }

  close(): void {
    for (const part of [this.#connection, this.#data, this.#in, this.#out]) closeQuietly(part);
  }
}
