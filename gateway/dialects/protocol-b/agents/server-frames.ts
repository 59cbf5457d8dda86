/** Frames that a conversation sends (docs/contract/agent-elevenlabs.md 4), as JSON text. Audio is written by template: base64 needs no escaping. */
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ConversationFault } from './faults.js';

/** PCM of 16 bits at 16 kHz, both ways. */
const FORMAT = 'pcm_16000';

const frame = (type: string, fields: object): string => JSON.stringify({ type, ...fields });

const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

export const metadataFrame = (conversationId: string): string =>
  frame('conversation_initiation_metadata', {
    conversation_initiation_metadata_event: {
      conversation_id: conversationId,
      agent_output_audio_format: FORMAT,
      user_input_audio_format: FORMAT,
    },
  });

export const audioFrame = (audio: Uint8Array, eventId: number): string =>
  `{"type":"audio","audio_event":{"audio_base_64":"${base64Of(audio)}","event_id":${eventId}}}`;

export const userTranscriptFrame = (text: string, eventId: number): string =>
  frame('user_transcript', { user_transcription_event: { user_transcript: text, event_id: eventId } });

export const agentResponseFrame = (text: string, eventId: number): string =>
  frame('agent_response', { agent_response_event: { agent_response: text, event_id: eventId } });

/** What of an answer was heard after all. */
export const correctionFrame = (original: string, heard: string, eventId: number): string =>
  frame('agent_response_correction', {
    agent_response_correction_event: {
      original_agent_response: original,
      corrected_agent_response: heard,
      event_id: eventId,
    },
  });

export const interruptionFrame = (eventId: number): string =>
  frame('interruption', { interruption_event: { event_id: eventId } });

export const toolCallFrame = (
  callId: string,
  name: string,
  parameters: PlainObject,
  eventId: number,
): string =>
  frame('client_tool_call', {
    client_tool_call: { tool_name: name, tool_call_id: callId, parameters, event_id: eventId },
  });

/** `ms`: how long the last answer to a ping took; null before there was one. */
export const pingFrame = (eventId: number, ms: number | null): string =>
  frame('ping', { ping_event: { event_id: eventId, ping_ms: ms } });

/** `reason` repeats the message, since some clients read that instead. */
export const errorFrame = ({ code, type, message, details }: ConversationFault): string =>
  frame('error', { error_event: { code, error_type: type, message, reason: message, details } });
