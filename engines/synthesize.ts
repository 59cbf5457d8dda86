/**
 * The Speech port: admission, voice, engine, pieces, loudness, stretch, encoding, as one pulled stream.
 *
 * Invariants: nothing is synthesised ahead of the reader beyond the kernel's credit; the slot is given
 * back on every way out; a failure leaves the stream by throwing, never by ending it (docs/contract/limits.md).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encoderDelaySeconds } from '../codecs/encoder-delay.js';
import { progressOf } from '../codecs/progress.js';
import { ServiceError } from '../contracts/errors.js';
import { systemClock, type Clock } from '../contracts/clock.js';
import type { Encode } from '../contracts/ports/codec.js';
import type { Admission, Caller } from '../contracts/ports/identity.js';
import type {
  StreamingSynthesisRequest,
  Speech,
  SynthesisRequest,
  TextPart,
  TimedAudio,
  VoiceWish,
} from '../contracts/ports/speech.js';
import type { TtsCapabilities, TtsRequest } from '../contracts/ports/tts.js';
import type { VoiceLibrary } from '../contracts/ports/voices.js';
import { scriptsIn, scriptsInLong, type TextScripts } from './language.js';
import { paceOf, stretchedWord } from './pace.js';
import { isTurnOver } from './loop-turn.js';
import { hasSound } from './backends/sound.js';
import type { Registry } from './registry.js';
import { Listener } from './scheduling/listener.js';
import { workspaceTag } from './scheduling/workspace-tag.js';
import { SpeakerTags, stripTags } from './style-tags.js';
import { PAUSE, type Pause, type Piece, piecesOf } from './text-source.js';
import { Timeline } from './timeline.js';
import { checkScripts, type SelectedVoice, selectVoice } from './voice-selection.js';

export interface SpeechParts {
  readonly registry: Registry;
  readonly voices: VoiceLibrary;
  readonly admission: Admission;
  readonly encode: Encode;
  readonly clock?: Clock;
}

type Request = SynthesisRequest | StreamingSynthesisRequest;

/** One request while it is synthesised. */
interface Job {
  readonly request: Request;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Tells how urgent the next piece is. */
  readonly listener: Listener;
  /** Notes when which piece and word is spoken; absent where the client wants no times. */
  readonly timeline?: Timeline;
}

const NO_AUDIO = new Uint8Array(0);
const KIND = 'synthesis_characters';

const isWhole = (request: Request): request is SynthesisRequest => typeof request.text === 'string';

const mustBeHeard = (request: Request): boolean => isWhole(request) && /\S/u.test(request.text);

type Pieces = AsyncGenerator<Piece | Pause>;

/** The engine's options that are the same for every piece of a request. */
function engineOptions(
  { engine, voice, speakers, language, references }: SelectedVoice,
  { request: { speed, sampling, normalize, latency, chunkLength, trace }, timeline }: Job,
): Omit<TtsRequest, 'text'> {
  const { own } = paceOf(engine.capabilities, speed);
  const timing = timeline !== undefined && engine.capabilities.timing === 'word';
  const traced = trace && { traceContext: trace.context };
  return {
    voice,
    language,
    speed: own,
    timing,
    sampling,
    references,
    latency,
    chunkLength,
    ...(speakers && { speakers }),
    ...(normalize !== undefined && { normalize }),
    ...traced,
  };
}

/** Turns a piece into the engine's text: style tags are removed where the engine does not know them. */
function engineTextFor({ styleTags, speakers }: TtsCapabilities): (text: string) => string {
  if (!styleTags) return stripTags;
  const tags = new SpeakerTags();
  return speakers ? (text) => tags.carry(text) : (text) => text;
}

/**
 * The samples of the whole text, piece by piece, at the engine's rate and not yet stretched. Errors: the engine's;
 * `nothing_to_say` where a whole text that is not blank has ended without any.
 */
async function* speak(selected: SelectedVoice, pieces: Pieces, job: Job): AsyncGenerator<Int16Array> {
  const { engine } = selected;
  const { request, signal, timeline, listener } = job;
  const { sampleRate } = engine.capabilities;
  const engineText = engineTextFor(engine.capabilities);
  const pace = paceOf(engine.capabilities, request.speed);
  const { stretch } = pace;
  const options = engineOptions(selected, job);
  const tag = workspaceTag(job.caller.workspaceId);
  timeline?.open(sampleRate * stretch, options.timing === true);
  const receive = ({ length }: Int16Array): void => {
    timeline?.made(length);
    listener.receive(length / (sampleRate * stretch));
  };
  let heard = false;
  // Pushes the speech out of the encoder, which would hold its end until more text comes.
  const silence = new Int16Array(encoderDelaySeconds(request.output, stretch) * stretch * sampleRate);
  for await (const piece of pieces) {
    if (piece === PAUSE) {
      timeline?.paused(silence.length);
      yield silence;
      continue;
    }
    timeline?.begin(piece);
    const text = engineText(piece.text);
    const demand = { workspaceTag: tag, aheadSeconds: listener.aheadSeconds };
    for await (const event of engine.synthesize({ text, ...options, demand }, signal)) {
      if (event.kind === 'word') timeline?.word(stretchedWord(event.word, pace));
      else {
        receive(event.samples);
        yield event.samples;
        // Whoever else has nothing to hear yet comes before what this one can hear later.
        if (!heard || isTurnOver()) await nextTurn();
        heard ||= event.samples.length > 0;
      }
    }
    timeline?.end();
  }
  if (!heard && mustBeHeard(request)) throw new ServiceError('nothing_to_say');
}

async function* metered(
  parts: AsyncIterable<TextPart>,
  count: (length: number) => void,
): AsyncGenerator<TextPart> {
  for await (const part of parts) {
    if (part.kind === 'text') count(part.text.length);
    yield part;
  }
}

async function* concatenated<T>(first: readonly T[], rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

const TEXT_DECIDES = new Set<string>(['voice_language', 'language_unavailable']);

const NO_SCRIPTS: TextScripts = new Set();

const selectFor = (
  { registry, voices }: SpeechParts,
  { request, caller }: Job,
  text: string,
  scripts: TextScripts,
) => selectVoice({ ...request, text, scripts }, caller, registry, voices);

const unlessTextDecides = (error: unknown): undefined => {
  if (!(error instanceof ServiceError && TEXT_DECIDES.has(error.code))) throw error;
};

/** Fails early on errors that the text cannot change: an unknown voice, no engine for the model. */
const validateVoice = (parts: SpeechParts, job: Job): Promise<undefined> =>
  selectFor(parts, job, '', NO_SCRIPTS).then(() => undefined, unlessTextDecides);

/** Checks a voice before there is a text: for the wished language, or any of the voice's own where none is named. */
async function checkVoice(
  { registry, voices }: SpeechParts,
  wish: VoiceWish,
  caller: Pick<Caller, 'workspaceId'>,
) {
  const checking = selectVoice(
    { ...wish, text: '', scripts: NO_SCRIPTS, references: [] },
    caller,
    registry,
    voices,
  );
  await (wish.language === undefined ? checking.catch(unlessTextDecides) : checking);
}

/** Counts the text: all of it at once, or as it arrives. */
function meter({ admission }: SpeechParts, { request, caller }: Job): Request {
  const count = (length: number): void => admission.use(caller.workspaceId, KIND, length);
  if (!isWhole(request)) return { ...request, text: metered(request.text, count) };
  count(request.text.length);
  return request;
}

function render(
  parts: SpeechParts,
  selected: SelectedVoice,
  pieces: Pieces,
  job: Job,
): AsyncIterable<Uint8Array> {
  const { request, signal } = job;
  request.trace?.engine(selected.engine.name);
  const pcm = speak(selected, pieces, job);
  const { capabilities } = selected.engine;
  const { stretch: speed } = paceOf(capabilities, request.speed);
  const { output, volume, normalizeLoudness } = request;
  const level = { volume, normalizeLoudness };
  return parts.encode(pcm, capabilities.sampleRate, output, signal, { speed, level });
}

/** The pieces up to and with the first that can be heard. */
async function firstOf(pieces: Pieces): Promise<(Piece | Pause)[]> {
  const first: (Piece | Pause)[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return first;
    first.push(value);
    if (value !== PAUSE && hasSound(value.text)) return first;
  }
}

/** Passes the pieces on, each checked before it is spoken. Errors: those of `checkScripts`. */
async function* checked(pieces: Pieces, selected: SelectedVoice, { request }: Job): Pieces {
  for await (const piece of pieces) {
    if (piece !== PAUSE) checkScripts(selected, scriptsIn(piece.text), request.voice);
    yield piece;
  }
}

/** A text that arrives while it is spoken: the first piece that can be heard decides the voice. */
async function* renderArriving(parts: SpeechParts, pieces: Pieces, job: Job): AsyncGenerator<Uint8Array> {
  const first = await firstOf(pieces);
  const piece = first.findLast((each) => each !== PAUSE);
  if (!piece) return;
  const selected = await selectFor(parts, job, piece.text, scriptsIn(piece.text));
  yield* render(parts, selected, checked(concatenated(first, pieces), selected, job), job);
}

async function* run(parts: SpeechParts, job: Job): AsyncGenerator<Uint8Array> {
  const { request, caller, signal } = job;
  const selected = isWhole(request)
    ? await selectFor(parts, job, request.text, await scriptsInLong(request.text))
    : await validateVoice(parts, job);
  const leave = await parts.admission.enter(caller.workspaceId, KIND);
  try {
    const pieces = piecesOf(meter(parts, job), signal);
    yield* selected ? render(parts, selected, pieces, job) : renderArriving(parts, pieces, job);
  } finally {
    leave();
  }
}

async function* runTimed(parts: SpeechParts, job: Job): AsyncGenerator<TimedAudio> {
  const timeline = new Timeline();
  const progress = progressOf(job.request.output);
  let second = 0;
  for await (const audio of run(parts, { ...job, timeline })) {
    for (const piece of timeline.passed(second)) yield { audio: NO_AUDIO, piece, end: second };
    second = progress(audio);
    yield { audio, piece: timeline.current(), end: second };
  }
  for (const piece of timeline.rest()) yield { audio: NO_AUDIO, piece, end: second };
}

const jobOf = (
  { clock = systemClock }: SpeechParts,
  request: Request,
  caller: Caller,
  signal: AbortSignal,
): Job => ({ request, caller, signal, listener: new Listener(clock) });

export const createSpeech = (parts: SpeechParts): Speech => ({
  synthesize: (request, caller, signal) => run(parts, jobOf(parts, request, caller, signal)),
  synthesizeTimed: (request, caller, signal) => runTimed(parts, jobOf(parts, request, caller, signal)),
  checkQuota: ({ workspaceId }) => parts.admission.check(workspaceId, KIND),
  checkVoice: (wish, caller) => checkVoice(parts, wish, caller),
});
