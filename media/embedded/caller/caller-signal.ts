/** LiveKit's signalling frames, from a client's side. */
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
import type { ServerSignal } from '../signal.js';

/** The query of a connection that joins with its offer. */
export function joinQuery(offer: string): string {
  const request = new JoinRequest({
    connectionSettings: new ConnectionSettings({ autoSubscribe: true }),
    publisherOffer: new SessionDescription({ type: 'offer', sdp: offer, id: 1 }),
  });
  const wrapped = new WrappedJoinRequest({ joinRequest: request.toBinary() }).toBinary();
  return new URLSearchParams({ join_request: Buffer.from(wrapped).toString('base64') }).toString();
}

export const leaveFrame = (): Uint8Array =>
  new SignalRequest({ message: { case: 'leave', value: new LeaveRequest() } }).toBinary();

/** Undefined if it is not a frame of the protocol. */
export function readResponse(frame: Uint8Array | string): ServerSignal | undefined {
  try {
    const response =
      typeof frame === 'string' ? SignalResponse.fromJsonString(frame) : SignalResponse.fromBinary(frame);
    return response.message;
  } catch {
    return undefined;
  }
}

/** The frame that announces a candidate of the caller. */
export function trickleFrame(candidate: string): Uint8Array {
  const candidateInit = JSON.stringify({ candidate, sdpMid: '0', sdpMLineIndex: 0 });
  const value = new TrickleRequest({ candidateInit, target: SignalTarget.PUBLISHER });
  return new SignalRequest({ message: { case: 'trickle', value } }).toBinary();
}
