/** How a caller is connected to its agent: media in both directions, and messages. */
import type { Invite } from '../servers/agents.js';

export const OPUS = 111;
/** The microphone's stream. */
export const SSRC = 4711;

export interface ConnectionHandlers {
  /** An RTP packet of the agent's voice, whose header has 12 bytes. */
  hear(packet: Buffer): void;
  /** A message of the data channel, as it came. */
  receive(message: Buffer | string): void;
}

export interface Connection {
  /** Resolves once media flows in both directions. Rejects where that takes too long. Called once. */
  join(invite: Invite): Promise<void>;
  /** Sends an RTP packet. */
  speak(packet: Buffer): void;
  leave(): void;
}

/** A part of a WebRTC connection, which may have closed by itself. */
export function closeQuietly(part: { close(): void }): void {
  try {
    part.close();
  } catch {
    // It has.
  }
}

/** The far side may close the track between the question and the sending. */
export function sendQuietly(
  track: { isOpen(): boolean; sendMessageBinary(bytes: Buffer): boolean },
  packet: Buffer,
) {
  try {
    if (track.isOpen()) track.sendMessageBinary(packet);
  } catch {
    // It has.
  }
}
