/** The clients that a generator has, by name. */
import type { Client } from './client.js';
import { createSpeech, type SpeechParams } from './speech.js';

export const CLIENTS: Readonly<Record<string, (params: unknown) => Client>> = {
  speech: (params) => createSpeech(params as SpeechParams),
};
