/** A recording that is uploaded, and what its transcript has to be. */
import { wavHeader } from '../audio/shape.js';
import { wavOf } from '../audio/wav.js';
import type { TranscriptionParams } from '../clients/transcription.js';
import type { Options } from '../options.js';
import { authorizationOf, type Server } from '../servers/server.js';
import { type Dialect, recordAnswer, speechOf } from './speech/speech-request.js';

export interface Recording {
  /** A WAV file, 16-bit mono. */
  readonly audio: Buffer;
  /** Seconds of it. */
  readonly duration: number;
  readonly spoken: string;
}

/** The server's own voice says it. */
export async function recordSpeech(server: Server, spoken: string, options: Options): Promise<Recording> {
  const dialect = server.isNative ? 'native' : 'openai';
  const { body } = await recordAnswer(speechOf(server, { dialect, format: 'wav', text: spoken }, options));
  const { from, rate } = wavHeader(body);
  return { audio: wavOf(body.subarray(from), rate), duration: (body.length - from) / 2 / rate, spoken };
}

const REQUESTS = {
  openai: {
    field: 'file',
    fields: { model: 'whisper-1' },
    path: ({ openai }: Server) => `${openai}/audio/transcriptions`,
  },
  native: { field: 'audio', fields: {}, path: ({ origin }: Server) => `${origin}/v1/asr` },
} as const;

/** `mostErrors`: word error rate above which a transcript is wrong. */
export function transcriptionOf(
  server: Server,
  dialect: Dialect,
  recording: Recording,
  mostErrors: number,
): TranscriptionParams {
  const { field, fields, path } = REQUESTS[dialect];
  return { url: path(server), headers: authorizationOf(server), field, fields, ...recording, mostErrors };
}
