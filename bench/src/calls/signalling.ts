/** LiveKit's signalling as a client speaks it: it joins, is told, says, and leaves. No media: connections have that. */
import {
  ConnectionSettings,
  JoinRequest,
  LeaveRequest,
  SessionDescription,
  SignalRequest,
  SignalResponse,
  SignalTarget,
  TrickleRequest,
  WrappedJoinRequest,
} from '@livekit/protocol';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Invite } from '../servers/agents.js';

export type Told = SignalResponse['message'];

/** Path for clients that join with an offer: one connection in both directions. */
export function addressWithOffer({ media_url: url, token }: Invite, offer: string): string {
  const join = new JoinRequest({
    connectionSettings: new ConnectionSettings({ autoSubscribe: true }),
    publisherOffer: new SessionDescription({ type: 'offer', sdp: offer, id: 1 }),
  });
  const wrapped = new WrappedJoinRequest({ joinRequest: join.toBinary() }).toBinary();
  const query = { access_token: token, join_request: Buffer.from(wrapped).toString('base64') };
  return `${url}/rtc/v1?${new URLSearchParams(query).toString()}`;
}

/** The version of the protocol in which a server offers what can be heard, and a client what it says. */
const PROTOCOL = '15';

/** Path for clients that join without an offer: one connection for each direction follows. */
export function addressWithoutOffer({ media_url: url, token }: Invite): string {
  const query = { access_token: token, protocol: PROTOCOL, auto_subscribe: '1', sdk: 'js' };
  return `${url}/rtc?${new URLSearchParams(query).toString()}`;
}

export class Signalling {
  readonly #socket: WebSocket;
  /** Rejects where the join is refused. */
  readonly opened: Promise<unknown>;

  constructor(address: string, onTold: (message: Told) => void) {
    const socket = (this.#socket = new WebSocket(address));
    this.opened = once(socket, 'open');
    socket.on('error', () => {});
    socket.on('message', (frame: Buffer, isBinary) => {
      const { message } = isBinary
        ? SignalResponse.fromBinary(frame)
        : SignalResponse.fromJsonString(String(frame));
      onTold(message);
    });
  }

  /** Names an address at which it may be reached. */
  trickle(candidate: string, target = SignalTarget.PUBLISHER): void {
    const candidateInit = JSON.stringify({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
    this.say({ case: 'trickle', value: new TrickleRequest({ candidateInit, target }) });
  }

  leave(): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.say({ case: 'leave', value: new LeaveRequest() });
    this.#socket.close();
  }

  say(message: SignalRequest['message']): void {
    this.#socket.send(new SignalRequest({ message }).toBinary());
  }
}
