/**
 * Transcribes audio of any length: voice activity detection cuts it into pieces that the engine accepts, and each is
 * transcribed while the next one is detected. Input and output are streams; only the current piece and the next one are
 * in memory. Short audio is one piece as it is, where the engine takes any rate (ops/adr/0083-audio-as-it-came.md).
 */
import { joinSamples, RECOGNITION_RATE } from '../contracts/audio.js';
import type { LanguageCode } from '../contracts/speech/languages.js';
import type { TranscriptSegment } from '../contracts/ports/speech/speech.js';
import type {
  SpeechContext,
  SpeechSpan,
  SttCapabilities,
  SttEngine,
  SttPiece,
  VoiceActivity,
} from '../contracts/ports/speech/stt.js';
import { NO_DEMAND, type Demand } from '../contracts/ports/speech/demand.js';
import type { TimedWord } from '../contracts/ports/speech/tts.js';
import type { Align } from './alignment/align.js';
import { oneAhead } from './one-ahead.js';
import { Precedence } from './precedence.js';
import { atRecognitionRate } from './resampling.js';
import type { ForWhom } from '../contracts/ports/parts.js';
import type { TraceContext } from '../contracts/ports/trace.js';

export interface TranscribeOptions {
  readonly language?: string | undefined;
  readonly context?: SpeechContext | undefined;
  /** Whether the time of each word is wanted. */
  readonly words?: boolean | undefined;
  /** Hz of the audio; default 16,000. */
  readonly sampleRate?: number | undefined;
  /** Length of the audio, if known in advance. */
  readonly seconds?: number | undefined;
  /**
   * True if the audio is not complete yet: such work is refused with `engine_busy` if the engine has other work, and
   * cancelled when it gets some (precedence.ts).
   */
  readonly interim?: boolean | undefined;
  readonly traceContext?: TraceContext | undefined;
  readonly whom?: ForWhom | undefined;
  readonly demand?: Demand | undefined;
}

export interface TimedSegment extends TranscriptSegment {
  /** The detected language, if the engine reports it. */
  readonly language?: LanguageCode;
  /** Present if words were requested, and the engine or the alignment times them. */
  readonly words?: readonly TimedWord[];
}

/** What is known of audio while it arrives. */
export type Hearing =
  /** The words since the last final segment, which later ones replace. */
  | { readonly kind: 'interim'; readonly text: string }
  /** Words that will not change; times in seconds from the start of the audio. */
  | { readonly kind: 'final'; readonly segment: TimedSegment };

export type ListenOptions = Pick<
  TranscribeOptions,
  'language' | 'context' | 'sampleRate' | 'traceContext' | 'whom'
>;

/** Transcribes audio of any length: an engine as the speech pipeline sees it, here or in a child. */
export interface Transcriber {
  readonly name: string;
  /** The models of its service, with which it transcribes, and listens; absent: it has but one. */
  readonly model?: string;
  readonly liveModel?: string;
  readonly languages: SttCapabilities['languages'];
  /** Whether it takes speech for another language unless it is told. */
  readonly wantsLanguage?: boolean | undefined;
  /**
   * Yields segments in order, each as soon as it is transcribed; times in seconds from the start of the audio, which
   * is PCM. Audio is pulled as needed. Leaving the loop, or an abort, stops the work.
   */
  transcribe(
    audio: AsyncIterable<Int16Array>,
    options: TranscribeOptions,
    signal: AbortSignal,
  ): AsyncIterable<TimedSegment>;
  /**
   * Hears audio while it arrives, and tells what it has understood; the end of the audio makes the rest final. Absent: the engine hears
   * whole audio only. Leaving the loop, or an abort, stops the work.
   */
  listen?(
    audio: AsyncIterable<Int16Array>,
    options: ListenOptions,
    signal: AbortSignal,
  ): AsyncIterable<Hearing>;
}

export interface TranscriberParts {
  readonly engine: SttEngine;
  readonly voiceActivity: VoiceActivity;
  /** Times the words if the engine does not. Absent: only the engine's own times are used. */
  readonly align?: Align;
}

const moved = ({ text, start, end }: TimedWord, by: number): TimedWord => ({
  text,
  start: start + by,
  end: end + by,
});

/** Longest wait of later pieces, which otherwise wait as long as any first piece does. */
const FOLLOWING_SECONDS = 10;

const following = (demand: Demand): Demand => ({ ...demand, aheadSeconds: FOLLOWING_SECONDS });

async function wordsOf(span: SpeechSpan, piece: SttPiece, align: Align | undefined, signal: AbortSignal) {
  const words = piece.words ?? (await align?.(span.samples, piece.text, signal));
  return words && { words: words.map((word) => moved(word, span.start / RECOGNITION_RATE)) };
}

type AskedOfPieces = Pick<
  TranscribeOptions,
  'language' | 'context' | 'words' | 'traceContext' | 'whom' | 'demand'
>;

/** What the engine is told of each piece. */
const hintOf = ({ language, context, traceContext, whom }: AskedOfPieces) => ({
  ...(language !== undefined && { language }),
  ...(context !== undefined && { context }),
  ...(traceContext !== undefined && { traceContext }),
  ...(whom !== undefined && { whom }),
});

/** Whether the audio is one piece at its own rate. */
const isOnePiece = ({ capabilities }: SttEngine, seconds: number | undefined, sampleRate: number): boolean =>
  seconds !== undefined && seconds * sampleRate <= (capabilities.ownRateSamples ?? 0);

/** The segment of audio that is one piece; none without words. Errors: the engine's and the audio's own. */
async function* transcribeWhole(
  audio: AsyncIterable<Int16Array>,
  { engine, words = false, demand = NO_DEMAND, ...options }: Pick<TranscriberParts, 'engine'> & AskedOfPieces,
  sampleRate: number,
  signal: AbortSignal,
): AsyncGenerator<TimedSegment> {
  const parts: Int16Array[] = [];
  for await (const part of audio) parts.push(part);
  const samples = joinSamples(parts);
  if (samples.length === 0) return;
  const hint = { ...hintOf(options), sampleRate, demand };
  const { text, language, words: timed } = await engine.transcribe(samples, hint, signal);
  if (text === '') return;
  const told = language !== undefined && { language };
  yield {
    text,
    start: 0,
    end: samples.length / sampleRate,
    ...told,
    ...(words && timed && { words: timed }),
  };
}

/** Pieces without words give no segment. Errors: the engine's and the audio's own. */
export async function* transcribeStream(
  audio: AsyncIterable<Int16Array>,
  {
    engine,
    voiceActivity,
    align,
    words = false,
    demand = NO_DEMAND,
    ...options
  }: TranscriberParts & AskedOfPieces,
  signal: AbortSignal,
): AsyncGenerator<TimedSegment> {
  const { maxPieceSeconds } = engine.capabilities;
  const hint = hintOf(options);
  let next = demand;
  const spans = voiceActivity.spans(audio, { maxSpanSeconds: maxPieceSeconds }, signal);
  for await (const span of oneAhead(spans)) {
    const piece = await engine.transcribe(span.samples, { ...hint, demand: next }, signal);
    next = following(demand);
    const { text, language: heard } = piece;
    if (text === '') continue;
    const start = span.start / RECOGNITION_RATE;
    const end = start + span.samples.length / RECOGNITION_RATE;
    const told = heard !== undefined && { language: heard };
    yield { text, start, end, ...told, ...(words && (await wordsOf(span, piece, align, signal))) };
  }
}

/** A transcriber whose engine runs in this process. */
export function createTranscriber(parts: TranscriberParts): Transcriber {
  const precedence = new Precedence();
  async function* transcribe(
    audio: AsyncIterable<Int16Array>,
    { sampleRate = RECOGNITION_RATE, interim = false, ...options }: TranscribeOptions,
    signal: AbortSignal,
  ): AsyncGenerator<TimedSegment> {
    const turn = precedence.enter({ interim, isLive: options.demand?.isLive === true }, signal);
    try {
      const asked = { ...parts, ...options };
      yield* isOnePiece(parts.engine, options.seconds, sampleRate)
        ? transcribeWhole(audio, asked, sampleRate, turn.signal)
        : transcribeStream(atRecognitionRate(audio, sampleRate), asked, turn.signal);
    } finally {
      turn.leave();
    }
  }
  const { languages, wantsLanguage } = parts.engine.capabilities;
  return { name: parts.engine.name, languages, wantsLanguage, transcribe };
}
