/** A recording that is uploaded, and what its transcript has to be. */
import { wavHeader } from '../audio/shape.js';
import type { TranscriptionParams } from '../clients/transcription.js';
import type { Options } from '../options.js';
import { authorizationOf, type Server } from '../servers/server.js';
import { type Dialect, recordAnswer, speechOf } from './speech-request.js';

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

/** With its lengths; those of a stream are placeholders. */
export function wavOf(pcm: Buffer, rate: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(36 + pcm.length, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * 2, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([header, pcm]);
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
