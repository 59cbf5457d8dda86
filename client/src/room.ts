/**
 * The part of a LiveKit room that a session uses. The rooms of `livekit-client` (browsers) and of `@livekit/rtc-node`
 * (Node) both have this shape as they are. `Sound` is what only a browser has: microphone, loudspeaker, volume
 * meters.
 */
import type { SessionError } from './errors.js';

export interface RoomParticipant {
  readonly identity: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface TextReader extends AsyncIterable<string> {
  readonly info: { readonly attributes?: Readonly<Record<string, string>> | undefined };
}

export interface RoomEvents {
  dataReceived: [payload: Uint8Array, from?: unknown, kind?: unknown, topic?: string];
  participantConnected: [];
  participantDisconnected: [];
  participantAttributesChanged: [];
  signalReconnecting: [];
  reconnecting: [];
  reconnected: [];
  /** LiveKit's number of the reason. */
  disconnected: [reason?: number];
}

export interface Room {
  readonly localParticipant?:
    | {
        readonly identity: string;
        publishData(data: Uint8Array, options: { reliable: boolean; topic: string }): Promise<void>;
      }
    | undefined;
  readonly remoteParticipants: ReadonlyMap<string, RoomParticipant>;
  connect(url: string, token: string): Promise<void>;
  disconnect(): Promise<void>;
  registerTextStreamHandler(
    topic: string,
    handler: (reader: TextReader, from: { readonly identity: string }) => void,
  ): void;
  unregisterTextStreamHandler(topic: string): void;
  on(event: string, listener: (...args: never[]) => void): unknown;
}

/** `room.on`, typed for the events above. */
export const listen = <Name extends keyof RoomEvents>(
  room: Room,
  name: Name,
  listener: (...args: RoomEvents[Name]) => void,
): void => void room.on(name, listener as (...args: never[]) => void);

export interface SoundOptions {
  /** `false`: the user is not heard until `setMuted(false)`. Default: the browser's default device. */
  readonly microphone?: boolean | { readonly deviceId: string };
  readonly speaker?: { readonly deviceId: string };
}

export interface Sound {
  /** Called before the room is joined. Errors: `mic_permission_denied`; `device_change_failed` if the wanted device is gone. */
  open(): Promise<void>;
  /** Called once the room is joined: an open microphone is heard from now on. */
  start(): Promise<void>;
  setMuted(muted: boolean): Promise<void>;
  /** From 0 (silence) to 1 (full scale). */
  readonly inputVolume: number;
  readonly outputVolume: number;
  useMicrophone(deviceId: string): Promise<void>;
  useSpeaker(deviceId: string): Promise<void>;
  /** Idempotent. */
  close(): void;
}

/** What a session is told while it goes on. */
export interface SoundWatcher {
  error(error: SessionError): void;
  /** The microphone is off, and the user did not ask for it. */
  lost(error: SessionError): void;
}

export interface Endpoint {
  readonly room: Room;
  readonly sound?: Sound;
}
