/** LiveKit's signalling frames: protobuf, or JSON for a client that sends text. */
import { gunzipSync } from 'node:zlib';
import {
  JoinRequest,
  SignalRequest,
  SignalResponse,
  WrappedJoinRequest,
  WrappedJoinRequest_Compression,
} from '@livekit/protocol';

const MOST_JOIN_BYTES = 512 * 1024;

export type ClientSignal = SignalRequest['message'];
export type ServerSignal = SignalResponse['message'];

/** Undefined if it is not a frame of the protocol. */
export function readSignal(frame: Uint8Array | string): ClientSignal | undefined {
  try {
    const options = { ignoreUnknownFields: true };
    return typeof frame === 'string'
      ? SignalRequest.fromJsonString(frame, options).message
      : SignalRequest.fromBinary(frame).message;
  } catch {
    return undefined;
  }
}

export function writeSignal(message: ServerSignal, asText: boolean): Uint8Array | string {
  const response = new SignalResponse({ message });
  return asText ? response.toJsonString() : response.toBinary();
}

/** A client's request to join; `/rtc/v1` packs it into one query parameter. */
export interface JoinRequestParts {
  /** The participant whose connection is to be resumed. */
  readonly resume?: string;
  readonly offer?: { readonly sdp: string; readonly id: number };
  readonly tracks: JoinRequest['addTrackRequests'];
}

function joinRequestOf(parameter: string): JoinRequest {
  const wrapped = WrappedJoinRequest.fromBinary(Buffer.from(parameter, 'base64url'));
  const packed = wrapped.compression === WrappedJoinRequest_Compression.GZIP;
  const bytes = packed
    ? gunzipSync(wrapped.joinRequest, { maxOutputLength: MOST_JOIN_BYTES })
    : wrapped.joinRequest;
  return JoinRequest.fromBinary(bytes);
}

const resumeOf = (reconnect: boolean, sid: string | null) =>
  reconnect && sid !== null && sid !== '' ? { resume: sid } : {};

/** Errors: if the parameter cannot be read. */
export function joiningOf(version: 1 | 0, query: URLSearchParams): JoinRequestParts {
  const parameter = query.get('join_request');
  if (version === 0 || parameter === null)
    return { ...resumeOf(query.get('reconnect') === '1', query.get('sid')), tracks: [] };
  // Browsers send standard base64; a `+` may have become a space.
  const request = joinRequestOf(parameter.replace(/\+/g, '-').replace(/\//g, '_').replace(/ /g, '-'));
  const { publisherOffer, reconnect, participantSid, addTrackRequests: tracks } = request;
  return {
    ...resumeOf(reconnect, participantSid),
    ...(publisherOffer && { offer: { sdp: publisherOffer.sdp, id: publisherOffer.id } }),
    tracks,
  };
}
