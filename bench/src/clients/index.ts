/** The clients that a generator has, by name. */
import { type BytesParams, createBytes } from './bytes.js';
import type { Client } from './client.js';
import { createJson, type JsonParams } from './json.js';
import { createSpeech, type SpeechParams } from './speech.js';
import { createSpeechSocket, type SpeechSocketParams } from './speech-socket.js';
import { createStatement, type StatementParams } from './statement.js';
import { createTranscription, type TranscriptionParams } from './transcription.js';

export const CLIENTS: Readonly<Record<string, (params: unknown) => Client>> = {
  bytes: (params) => createBytes(params as BytesParams),
  json: (params) => createJson(params as JsonParams),
  speech: (params) => createSpeech(params as SpeechParams),
  'speech-socket': (params) => createSpeechSocket(params as SpeechSocketParams),
  statement: (params) => createStatement(params as StatementParams),
  transcription: (params) => createTranscription(params as TranscriptionParams),
};
