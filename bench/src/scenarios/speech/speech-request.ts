/** A text as a request of speech in either dialect, and what its answer has to be. */
import { leastSecondsOf } from '../../audio/answer.js';
import type { AudioFormat } from '../../audio/shape.js';
import type { SpeechParams } from '../../clients/speech.js';
import type { Load } from '../../generator/protocol.js';
import type { Options } from '../../options.js';
import { authorizationOf, type Server } from '../../servers/server.js';

export type Dialect = 'openai' | 'native';

export interface Wanted {
  readonly dialect: Dialect;
  readonly format: AudioFormat;
  readonly text: string;
  /** By the native API alone. */
  readonly latency?: 'low' | 'balanced' | 'normal';
}

/** The native API is asked for the rate of the engine for tests, so that nothing has to be resampled. */
const NATIVE_PCM_RATE = 16_000;

/** Before anything counts: with fewer requests, code that is not compiled yet would be most of what is measured. */
export const WARM_UP = {
  full: { concurrency: 8, seconds: 2 },
  quick: { concurrency: 8, requests: 80 },
} as const satisfies Record<string, Load>;

export const speaks = (server: Server, dialect: Dialect): boolean =>
  dialect === 'openai' ? server.openai !== undefined : server.isNative;

const BODIES: { readonly [D in Dialect]: (wanted: Wanted, options: Options) => object } = {
  openai: ({ format, text }, { model, voice }) => ({ model, voice, input: text, response_format: format }),
  native: ({ format, text, latency }) => ({
    text,
    format,
    ...(latency !== undefined && { latency }),
    ...(format === 'mp3' ? {} : { sample_rate: NATIVE_PCM_RATE }),
  }),
};

export function speechOf(server: Server, wanted: Wanted, options: Options): SpeechParams {
  const { dialect, format, text } = wanted;
  return {
    request: {
      url: dialect === 'openai' ? `${server.openai}/audio/speech` : `${server.origin}/v1/tts`,
      headers: { ...authorizationOf(server), 'content-type': 'application/json' },
      body: JSON.stringify(BODIES[dialect](wanted, options)),
    },
    expected: {
      format,
      rate: dialect === 'openai' ? server.pcmRate : NATIVE_PCM_RATE,
      leastSeconds: leastSecondsOf(text),
    },
  };
}

/** The bytes of one answer, for a baseline to answer with. Throws Error where there is none. */
export async function recordAnswer({
  request,
}: Pick<SpeechParams, 'request'>): Promise<{ body: Buffer; type: string }> {
  const { url, headers, body } = request;
  const answer = await fetch(url, { method: 'POST', headers, body: String(body) });
  if (!answer.ok) throw new Error(`speech was refused with HTTP ${answer.status}`);
  return {
    body: Buffer.from(await answer.arrayBuffer()),
    type: answer.headers.get('content-type') ?? 'application/octet-stream',
  };
}
