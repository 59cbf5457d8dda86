/**
 * Implements the Transcription port: admission, isolated decoding, and recognition as one stream. Pieces are transcribed
 * while the file is still being decoded, and only the current piece and the next one are in memory. Raw audio, in a WAV
 * file too, needs no decoder and goes to the engine at its own rate.
 *
 * Invariant: only complete audio takes a slot, unless its caller has reserved one, and counts as usage, and it counts only once
 * all of it was transcribed.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { ServiceError, toServiceError } from '../contracts/errors.js';
import { ONLINE_TIMES } from '../contracts/limits/online-times.js';
import { type LanguageCode, languageOfTag } from '../contracts/speech/languages.js';
import type { Decode } from '../contracts/ports/speech/codec.js';
import type { Denoiser } from '../contracts/ports/speech/denoiser.js';
import type { Admission, Caller } from '../contracts/ports/accounts/identity.js';
import type {
  HeardSoFar,
  ListeningRequest,
  RawAudio,
  StandIn,
  Transcript,
  Transcription,
  TranscriptionRequest,
  TranscriptSegment,
  WorkedBy,
} from '../contracts/ports/speech/speech.js';
import { whomOf } from '../contracts/ports/parts.js';
import type { TimedWord } from '../contracts/ports/speech/tts.js';
import { joinedTexts } from '../contracts/text/joined-texts.js';
import { share, wordsIn } from './alignment/transcript-words.js';
import { enterJob } from './admission/job-slot.js';
import { contextOf, expectedSegment, expectedText } from './expected-words.js';
import { inTime } from './in-time.js';
import type { Hearing, TimedSegment, Transcriber } from './long-audio.js';
import { pcmIn, type PcmOnDisk, samplesOnDisk, secondsOnDisk, wholePcm } from './audio-on-disk.js';
import { rawAudioIn, samplesOfRaw, secondsOf } from './raw-audio.js';
import { ownerOf } from '../processes/job-owner.js';
import type { Registry } from './registry.js';
import { languageAmong } from './text/language-among.js';
import { type Term, termsOf } from './text/written/index.js';

export interface TranscriptionParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly decode: Decode;
  /** Undefined while no noise reduction is added. */
  readonly denoiser?: Denoiser | undefined;
}

/** Audio to transcribe: samples at `sampleRate`, and their length, which for most uploads is known only once they are read. */
interface Sound {
  readonly sampleRate: number;
  readonly samples: AsyncIterable<Int16Array>;
  /** Undefined if it is not known in advance. */
  readonly seconds: number | undefined;
  duration(): number;
}

/** Passes audio on and counts its samples. */
function counted(audio: AsyncIterable<Int16Array>, sampleRate = RECOGNITION_RATE): Sound {
  let count = 0;
  async function* pass(): AsyncGenerator<Int16Array> {
    for await (const chunk of audio) {
      count += chunk.length;
      yield chunk;
    }
  }
  const duration = () => count / sampleRate;
  return { sampleRate, samples: pass(), seconds: undefined, duration };
}

function soundOfRaw(audio: RawAudio): Sound {
  const seconds = secondsOf(audio);
  return { sampleRate: audio.sampleRate, samples: samplesOfRaw(audio), seconds, duration: () => seconds };
}

function soundOnDisk(pcm: PcmOnDisk): Sound {
  const seconds = secondsOnDisk(pcm);
  return { sampleRate: pcm.sampleRate, samples: samplesOnDisk(pcm), seconds, duration: () => seconds };
}

const textOf = (segments: readonly TranscriptSegment[]): string =>
  joinedTexts(segments.map(({ text }) => text));

/** The same sound with less noise; the work begins when its samples are read. */
function withLessNoise(sound: Sound, denoise: () => Promise<RawAudio>): Sound {
  async function* pass(): AsyncGenerator<Int16Array> {
    yield* samplesOfRaw(await denoise());
  }
  return { ...sound, sampleRate: RECOGNITION_RATE, samples: pass() };
}

async function hearingOf(
  { audio, reducesNoise }: TranscriptionRequest,
  { decode, denoiser }: TranscriptionParts,
  caller: Caller,
  signal: AbortSignal,
): Promise<Sound> {
  function soundOf(raw: RawAudio): Sound {
    const sound = soundOfRaw(raw);
    return reducesNoise && denoiser
      ? withLessNoise(sound, () => denoiser.denoise(raw, ownerOf(caller), signal))
      : sound;
  }
  if ('chunks' in audio) return soundOf(audio);
  if ('file' in audio) return soundOnDisk(wholePcm(audio));
  if (audio instanceof Uint8Array) {
    const raw = rawAudioIn(audio);
    return raw ? soundOf(raw) : counted(decode(audio, caller, signal));
  }
  const pcm = await pcmIn(audio);
  return pcm ? soundOnDisk(pcm) : counted(decode(audio, caller, signal));
}

/** The language with the most seconds of speech. */
function languageOf(segments: readonly TimedSegment[]): { readonly language?: LanguageCode } {
  const seconds = new Map<LanguageCode, number>();
  for (const { language, start, end } of segments)
    if (language !== undefined) seconds.set(language, (seconds.get(language) ?? 0) + end - start);
  const [longest] = [...seconds].sort(([, one], [, other]) => other - one);
  return longest ? { language: longest[0] } : {};
}

/** If the engine gives no times of words, they share the segment's time by their length. */
const wordsOf = (segment: TimedSegment): readonly TimedWord[] =>
  segment.words ?? share(wordsIn(segment.text), segment);

const withoutWords = ({ text, start, end }: TimedSegment): TranscriptSegment => ({ text, start, end });

/** Who hears with that model of its service. */
const workOf = ({ name: engine }: Transcriber, model: string | undefined): WorkedBy => ({
  engine,
  ...(model !== undefined && { model }),
});

/** What an engine found. */
interface Found {
  readonly segments: readonly TimedSegment[];
  readonly by: WorkedBy;
}

const transcriptOf = ({ segments: found, by }: Found, duration: number, words: boolean): Transcript => ({
  text: textOf(found),
  duration,
  ...languageOf(found),
  segments: found.map(withoutWords),
  ...(words && { words: found.flatMap(wordsOf) }),
  by,
});

const unavailable = (language: string | undefined): ServiceError =>
  new ServiceError('language_unavailable', {
    message: `No speech recognition for "${(language ?? '').slice(0, 64)}"`,
  });

/** Errors: `language_unavailable` if the tag is no language. */
function hintOf(language: string | undefined): LanguageCode | undefined {
  if (language === undefined || language === '') return undefined;
  try {
    return languageOfTag(language);
  } catch {
    throw unavailable(language);
  }
}

/** Errors: `language_unavailable`. */
function transcriberFor(
  registry: Registry,
  { model }: Pick<TranscriptionRequest, 'model'>,
  language?: string,
): Transcriber {
  const transcriber = registry.transcriberFor(model, language);
  if (!transcriber) throw unavailable(language);
  return transcriber;
}

/** The engine that hears the request, and the language that it is told: none if it may be one of several. */
interface Ear {
  readonly engine: Transcriber;
  readonly hint: LanguageCode | undefined;
  /** The languages of which it is to tell one; undefined if it was told. */
  readonly among?: readonly string[] | undefined;
}

type Wish = Pick<TranscriptionRequest, 'model' | 'language' | 'languages'>;

/** Those that tell the request's languages apart; none if it is in one. */
const earsOfAll = (registry: Registry, { model, languages = [] }: Wish): readonly Ear[] =>
  languages.length < 2
    ? []
    : registry
        .transcribersOfAll(model, languages)
        .map((engine) => ({ engine, hint: undefined, among: languages }));

/** Errors: `language_unavailable`. */
function earFor(registry: Registry, wish: Wish): Ear {
  const [ear] = earsOfAll(registry, wish);
  const hint = hintOf(wish.language);
  return ear ?? { engine: transcriberFor(registry, wish, hint), hint };
}

/** That one, and whoever may take its place. */
function earsFor(registry: Registry, wish: Wish): readonly Ear[] {
  const ears = earsOfAll(registry, wish);
  const hint = hintOf(wish.language);
  const others = registry
    .transcribersFor(wish.model, hint)
    .filter((engine) => !ears.some((ear) => ear.engine === engine));
  return [...ears, ...others.map((engine) => ({ engine, hint }))];
}

/** The segment with its language, where one of several was to be told: as the engine says, else by its words. */
const inLanguage = (segment: TimedSegment, among: readonly string[] | undefined): TimedSegment => {
  if (among === undefined || segment.language !== undefined) return segment;
  const language = languageAmong(segment.text, among);
  return language === undefined ? segment : { ...segment, language };
};

interface Asked {
  readonly request: TranscriptionRequest;
  readonly caller: Caller;
  readonly heard: ((segment: TranscriptSegment) => void) | undefined;
  /** Words that are expected. */
  readonly terms: readonly Term[];
}

/** The segments that an engine finds in a sound; `most`: how long each is waited for, in ms. Errors: the engine's. */
async function foundBy(
  { engine, hint: language, among }: Ear,
  { samples, sampleRate, seconds }: Sound,
  { request, caller, heard, terms }: Asked,
  signal: AbortSignal,
  most?: number,
): Promise<Found> {
  const { words = false, interim = false, trace } = request;
  const segments: TimedSegment[] = [];
  const demand = { ...ownerOf(caller), aheadSeconds: 0 };
  const traceContext = trace?.context;
  const whom = whomOf(caller);
  const context = contextOf(request);
  const asked = { language, context, words, interim, sampleRate, seconds, traceContext, whom, demand };
  const work = (until: AbortSignal) => engine.transcribe(samples, asked, until);
  for await (const told of most === undefined ? work(signal) : inTime(work, () => most, signal)) {
    const segment = inLanguage(expectedSegment(told, terms), among);
    segments.push(segment);
    heard?.(withoutWords(segment));
  }
  return { segments, by: workOf(engine, engine.model) };
}

/** Longest wait for words of a sound, in ms. */
function patience({ seconds = 0 }: Sound, isAlone: boolean): number {
  const { aloneMs, wordsMs } = ONLINE_TIMES.recogniser;
  return isAlone ? aloneMs + seconds * 500 : wordsMs;
}

/** The segments, for somebody on the line: an engine that fails is replaced by the next of the list. Errors: the last one's. */
async function foundInTime(
  parts: TranscriptionParts,
  asked: Asked,
  standIn: StandIn,
  signal: AbortSignal,
): Promise<Found> {
  const { request } = asked;
  const able = earsFor(parts.registry, request);
  // A guess is not worth another engine.
  const ears = request.interim ? able.slice(0, 1) : able;
  for (const [index, ear] of ears.entries()) {
    const next = ears[index + 1];
    const sound = await hearingOf(request, parts, asked.caller, signal);
    try {
      return await foundBy(ear, sound, asked, signal, patience(sound, !next));
    } catch (error) {
      if (signal.aborted || request.interim) throw error;
      const { code } = toServiceError(error);
      standIn.failed({ engine: ear.engine.name, code, next: next?.engine.name });
      if (!next) throw error;
    }
  }
  throw unavailable(request.language);
}

const KIND = 'transcription_ms';

/** What an engine has heard so far, after each of its news; `known`: its final segments, which this adds to. Errors: the engine's. */
async function* heardBy(
  hearings: AsyncIterable<Hearing>,
  sound: Sound,
  known: TimedSegment[],
  { ear, terms }: { readonly ear: Ear; readonly terms: readonly Term[] },
): AsyncGenerator<HeardSoFar> {
  for await (const hearing of hearings) {
    const isFinal = hearing.kind === 'final';
    if (isFinal) known.push(inLanguage(expectedSegment(hearing.segment, terms), ear.among));
    const text = joinedTexts([textOf(known), ...(isFinal ? [] : [expectedText(hearing.text, terms)])]);
    yield { text, duration: sound.duration(), segments: known.map(withoutWords), final: false };
  }
}

type Count = (caller: Caller, seconds: number) => void;

/** What listens, and to what. */
interface Ears {
  readonly sound: Sound;
  readonly hearings: AsyncIterable<Hearing>;
  readonly by: WorkedBy;
}

/** What the engine hears, and at last the transcript of all of it. Errors: `quota_exceeded`; the engine's. */
async function* listened(
  { admission, count }: { readonly admission: Admission; readonly count: Count },
  {
    request: { uncounted = false, terms = [] },
    ear,
  }: { readonly request: ListeningRequest; readonly ear: Ear },
  caller: Caller,
  { sound, hearings, by }: Ears,
): AsyncGenerator<HeardSoFar> {
  const segments: TimedSegment[] = [];
  await admission.check(caller.workspaceId, KIND);
  yield* heardBy(hearings, sound, segments, { ear, terms: termsOf(terms) });
  if (!uncounted) count(caller, sound.duration());
  yield { ...transcriptOf({ segments, by }, sound.duration(), true), final: true };
}

/** Undefined if nobody hears it. */
function heardBySome(registry: Registry, wish: Wish): Ear | undefined {
  try {
    return earFor(registry, wish);
  } catch {
    return undefined;
  }
}

/** Undefined if the recogniser hears whole audio only, or there is none: what nobody hears is refused with all of the audio. */
function listen(
  parts: { readonly registry: Registry; readonly admission: Admission; readonly count: Count },
  request: ListeningRequest,
  caller: Caller,
  signal: AbortSignal,
): AsyncIterable<HeardSoFar> | undefined {
  const { sampleRate, trace } = request;
  const ear = heardBySome(parts.registry, request);
  if (!ear?.engine.listen) return undefined;
  const { engine, hint: language } = ear;
  trace?.engine(engine.name);
  const sound = counted(request.audio, sampleRate);
  const told = { language, context: contextOf(request), sampleRate };
  const asked = { ...told, traceContext: trace?.context, whom: whomOf(caller) };
  const hearings = ear.engine.listen(sound.samples, asked, signal);
  const by = workOf(engine, engine.liveModel);
  return listened(parts, { request, ear }, caller, { sound, hearings, by });
}

export function createTranscription(parts: TranscriptionParts): Transcription {
  const { registry, admission } = parts;

  /** The returned function must be called when the job has ended. */
  async function enter(caller: Caller, interim: boolean): Promise<() => void> {
    if (!interim) return enterJob(admission, caller, KIND);
    await admission.check(caller.workspaceId, KIND);
    return () => undefined;
  }

  const count = ({ workspaceId }: Caller, seconds: number): void =>
    admission.use(workspaceId, KIND, Math.round(seconds * 1000));

  return {
    countUsage: count,
    listen: (request, caller, signal) => listen({ registry, admission, count }, request, caller, signal),
    checkLanguage: (wish) => void transcriberFor(registry, wish, hintOf(wish.language)),
    get reducesNoise() {
      return parts.denoiser !== undefined;
    },
    async transcribe(request, caller, signal, heard): Promise<Transcript> {
      const { words = false, interim = false, uncounted = interim } = request;
      const ear = earFor(registry, request);
      request.trace?.engine(ear.engine.name);
      const asked = { request, caller, heard, terms: termsOf(request.terms ?? []) };
      const sound = await hearingOf(request, parts, caller, signal);
      const leave = await enter(caller, interim);
      try {
        const found = await (request.standIn
          ? foundInTime(parts, asked, request.standIn, signal)
          : foundBy(ear, sound, asked, signal));
        const duration = sound.duration();
        if (!uncounted) count(caller, duration);
        return transcriptOf(found, duration, words);
      } finally {
        leave();
      }
    },
  };
}
