/**
 * Recognition by a remote service: audio as it came, which the service brings to the rate of its model; long audio in pieces cut at quiet
 * places, one after the other.
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LANGUAGE_CODES } from '../../../contracts/speech/languages.js';
import type { SttEngine, SttPiece, SttWord, VoiceActivity } from '../../../contracts/ports/speech/stt.js';
import { wellFormed } from '../../../contracts/text/text.js';
import { share, wordsIn } from '../../alignment/transcript-words.js';
import { createTranscriber, type Transcriber } from '../../long-audio.js';
import { frames } from '../frames.js';
import { SpanCutter } from '../span-cutter.js';
import { wavFile } from './audio.js';
import type { RemoteSettings } from './settings.js';
import { toldUnlessRefused } from './told-context.js';
import type { TranscribePiece } from './transcribe-piece.js';

/** A piece of five minutes has 9.6 MB, below the upload limit of services. */
const PIECE_SECONDS = 300;
const PIECE_SAMPLES = PIECE_SECONDS * RECOGNITION_RATE;
const REPLY_BYTES = 16 * 1024 * 1024;
const FRAME = RECOGNITION_RATE / 10;
/** Quieter audio counts as silence: services are known to hear words in it. */
const AUDIBLE = 50;

const isAudible = (samples: Int16Array): boolean => samples.some((sample) => Math.abs(sample) > AUDIBLE);

/** Everything counts as speech: the service finds the pauses itself. */
const unbroken: VoiceActivity = {
  async *spans(audio, { maxSpanSeconds }, signal) {
    const cutter = new SpanCutter({
      maxSpan: maxSpanSeconds * RECOGNITION_RATE,
      lag: { begin: FRAME, end: 0 },
    });
    for await (const frame of frames(audio, FRAME)) {
      signal.throwIfAborted();
      const { span } = cutter.push(frame, true);
      if (span) yield span;
    }
    const last = cutter.end();
    if (last) yield last;
  },
};

interface RemoteWord {
  /** Of services that tell sounds beside words. */
  readonly type?: unknown;
  readonly text?: unknown;
  readonly word?: unknown;
  readonly start?: unknown;
  readonly end?: unknown;
}

/** What services answer to recorded audio. */
export interface RemoteTranscript {
  readonly text?: unknown;
  readonly language?: unknown;
  readonly language_code?: unknown;
  readonly words?: unknown;
  readonly segments?: unknown;
}

function spanOf({ type, text, word, start, end }: RemoteWord): SttWord[] {
  const said = text ?? word;
  if (type === 'audio_event') return [];
  if (typeof said !== 'string' || typeof start !== 'number' || typeof end !== 'number') return [];
  return said.trim() === '' ? [] : [{ text: wellFormed(said.trim()), start, end: Math.max(start, end) }];
}

const spansOf = (list: unknown): SttWord[] =>
  Array.isArray(list) ? list.flatMap((item) => spanOf((item ?? {}) as RemoteWord)) : [];

function codesByName(): ReadonlyMap<string | undefined, string> {
  const names = new Intl.DisplayNames('en', { type: 'language' });
  return new Map(LANGUAGE_CODES.flatMap((code) => [[code, code], [names.of(code)?.toLowerCase(), code]])); // oxfmt-ignore
}
let codes: ReturnType<typeof codesByName> | undefined;
/** Made at its first use: the runtime takes 10 ms to load its names of languages. */
const codeOf = (said: string): string | undefined =>
  (codes ??= codesByName()).get(said.toLowerCase()) ?? shortCode(said);

/** The two letters of a code of three. */
function shortCode(said: string): string | undefined {
  if (!/^[a-z]{3}$/i.test(said)) return undefined;
  const [code = ''] = Intl.getCanonicalLocales(said);
  return LANGUAGE_CODES.includes(code) ? code : undefined;
}

/** The language that a service detected; some give its code, some its English name. */
function languageIn({ language_code: code, language: name }: RemoteTranscript) {
  const heard = [code, name].map((said) => typeof said === 'string' && codeOf(said));
  const language = heard.find((found) => typeof found === 'string');
  return language === undefined ? {} : { language };
}

/** Errors: `provider_failed` if it is no JSON. */
export function jsonIn(reply: Buffer): unknown {
  try {
    return JSON.parse(reply.toString()) as unknown;
  } catch (cause) {
    throw new ServiceError('provider_failed', { message: 'The speech provider did not answer JSON', cause });
  }
}

/** The service's words, or else those of its segments, timed by their length. Errors: `provider_failed`. */
export function pieceIn(transcript: RemoteTranscript | null): SttPiece {
  const { text, words, segments } = transcript ?? {};
  if (typeof text !== 'string')
    throw new ServiceError('provider_failed', { message: 'The speech provider gave no transcript' });
  const timed = spansOf(words);
  const shared = spansOf(segments).flatMap((segment) => share(wordsIn(segment.text), segment));
  const found = timed.length > 0 ? timed : shared;
  return {
    text: wellFormed(text.trim()),
    ...languageIn(transcript ?? {}),
    ...(found.length > 0 && { words: found }),
  };
}

export const pieceOf = (reply: Buffer): SttPiece => pieceIn(jsonIn(reply) as RemoteTranscript | null);

/** How the reply to one piece is read. */
export const PIECE = { most: REPLY_BYTES, read: pieceOf };

/** A transcriber over `transcribe`, which gets pieces of at most PIECE_SAMPLES that are not silent. */
export function remoteTranscriber(
  name: string,
  { languages, sttModel: model, context: isTold }: Pick<RemoteSettings, 'languages' | 'sttModel' | 'context'>,
  transcribe: TranscribePiece,
): Transcriber {
  const told = toldUnlessRefused(transcribe);
  const engine: SttEngine = {
    name,
    capabilities: {
      languages: languages ?? 'any',
      maxPieceSeconds: PIECE_SECONDS,
      ownRateSamples: PIECE_SAMPLES,
      words: true,
    },
    async transcribe(samples, { sampleRate, context, ...options }, signal) {
      signal.throwIfAborted();
      const asked = context && isTold !== 'off' ? { ...options, context } : options;
      return isAudible(samples) ? told(wavFile(samples, sampleRate), asked, signal) : { text: '' };
    },
  };
  return { ...createTranscriber({ engine, voiceActivity: unbroken }), model };
}
