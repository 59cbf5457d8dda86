/** A caller at a gateway that is the far side of the call itself: one WebRTC connection for both directions. */
import { ParticipantInfo_State } from '@livekit/protocol';
import type { Invite } from '../servers/agents.js';
import type { Connection, ConnectionHandlers } from './connection.js';
import { Peer } from './peer.js';
import { addressWithOffer, Signalling, type Told } from './signalling.js';
import { waitFor } from './timing.js';

const JOIN_MS = 20_000;

export class DirectConnection implements Connection {
  readonly #peer: Peer;
  #signalling: Signalling | undefined;
  #sid = '';
  #isActive = false;

  constructor(handlers: ConnectionHandlers) {
    this.#peer = new Peer(handlers);
  }

  async join(invite: Invite): Promise<void> {
    await this.#peer.gather();
    const address = addressWithOffer(invite, this.#peer.offer);
    this.#signalling = new Signalling(address, (message) => this.#told(message));
    await this.#signalling.opened;
    if (!(await waitFor(() => this.#isActive && this.#peer.isOpen, JOIN_MS)))
      throw new Error('not connected in time');
  }

  #told(message: Told): void {
    if (message.case === 'join') this.#sid = message.value.participant?.sid ?? '';
    if (message.case === 'answer' && this.#peer.accept(message.value.sdp))
      for (const candidate of this.#peer.candidates) this.#signalling?.trickle(candidate);
    if (message.case === 'trickle') {
      const { candidate, sdpMid } = JSON.parse(message.value.candidateInit) as Record<string, string>;
      if (candidate) this.#peer.addCandidate(candidate, sdpMid ?? '0');
    }
    const participants = message.case === 'update' ? message.value.participants : [];
    if (participants.some(({ sid, state }) => sid === this.#sid && state === ParticipantInfo_State.ACTIVE))
      this.#isActive = true;
  }

  speak(packet: Buffer): void {
    this.#peer.speak(packet);
  }

  leave(): void {
    this.#signalling?.leave();
    this.#peer.close();
  }
}
