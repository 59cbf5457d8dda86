/**
 * The Speech port: admission, voice, engine, pieces, loudness, stretch, encoding, as one pulled stream.
 *
 * Invariants: nothing is synthesised ahead of the reader beyond the kernel's credit; the slot is given
 * back on every way out; a failure leaves the stream by throwing, never by ending it (spec "Errors").
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createGain } from '../codecs/gain.js';
import { heldSeconds } from '../codecs/held.js';
import { progressOf } from '../codecs/progress.js';
import { ServiceError } from '../contracts/errors.js';
import type { Encode } from '../contracts/ports/codec.js';
import type { Admission, Caller } from '../contracts/ports/identity.js';
import type {
  LiveSynthesisRequest,
  Speech,
  SynthesisRequest,
  TextPart,
  TimedAudio,
} from '../contracts/ports/speech.js';
import type { TtsRequest } from '../contracts/ports/tts.js';
import type { VoiceLibrary } from '../contracts/ports/voices.js';
import { cast, type Role } from './casting.js';
import { paceOf, stretchedWord } from './pace.js';
import type { Registry } from './registry.js';
import { stripTags } from './style-tags.js';
import { PAUSE, type Pause, type Piece, piecesOf } from './text-source.js';
import { Timeline } from './timeline.js';

export interface SpeechParts {
  readonly registry: Registry;
  readonly voices: VoiceLibrary;
  readonly admission: Admission;
  readonly encode: Encode;
}

type Request = SynthesisRequest | LiveSynthesisRequest;

/** One request on its way. */
interface Stage {
  readonly request: Request;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Where what is spoken is noted; absent where nobody asks. */
  readonly timeline?: Timeline;
}

const NO_AUDIO = new Uint8Array(0);
const KIND = 'synthesis_characters';

const isWhole = (request: Request): request is SynthesisRequest => typeof request.text === 'string';

type Pieces = AsyncGenerator<Piece | Pause>;

/** What every piece of a request is asked for with. */
function mannerOf(
  { engine, voice, language, references }: Role,
  { request: { speed, sampling, trace }, timeline }: Stage,
): Omit<TtsRequest, 'text'> {
  const { own } = paceOf(engine.capabilities, speed);
  const timing = timeline !== undefined && engine.capabilities.timing === 'word';
  const traced = trace && { traceparent: trace.traceparent };
  return { voice, language, speed: own, timing, sampling, references, ...traced };
}

/** The samples of the whole text, piece by piece, in the engine's rate; a stretch is still to come. */
async function* speak(role: Role, pieces: Pieces, stage: Stage): AsyncGenerator<Int16Array> {
  const { engine } = role;
  const { request, signal, timeline } = stage;
  const { styleTags, sampleRate } = engine.capabilities;
  const pace = paceOf(engine.capabilities, request.speed);
  const { stretch } = pace;
  const manner = mannerOf(role, stage);
  timeline?.open(sampleRate * stretch, manner.timing === true);
  // Brings out what the encoder would hold until more text comes.
  const silence = new Int16Array(heldSeconds(request.output, stretch) * stretch * sampleRate);
  for await (const piece of pieces) {
    if (piece === PAUSE) {
      timeline?.paused(silence.length);
      yield silence;
      continue;
    }
    timeline?.begin(piece);
    const text = styleTags ? piece.text : stripTags(piece.text);
    for await (const event of engine.synthesize({ text, ...manner }, signal)) {
      if (event.kind === 'word') timeline?.word(stretchedWord(event.word, pace));
      else {
        timeline?.made(event.samples.length);
        yield event.samples;
        await nextTurn();
      }
    }
    timeline?.end();
  }
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

async function* behind<T>(first: T, rest: AsyncIterable<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}

const TEXT_DECIDES = new Set<string>(['voice_language', 'language_unavailable']);

const castFor = ({ registry, voices }: SpeechParts, { request, caller }: Stage, text: string) =>
  cast({ ...request, text }, caller, registry, voices);

/** Refuses at once what no text could mend. */
async function rehearse(parts: SpeechParts, stage: Stage): Promise<undefined> {
  await castFor(parts, stage, '').catch((error: unknown) => {
    if (!(error instanceof ServiceError && TEXT_DECIDES.has(error.code))) throw error;
  });
}

/** Counts the text: all of it at once, or as it arrives. */
function meter({ admission }: SpeechParts, { request, caller }: Stage): Request {
  const count = (length: number): void => admission.use(caller.workspaceId, KIND, length);
  if (!isWhole(request)) return { ...request, text: metered(request.text, count) };
  count(request.text.length);
  return request;
}

function render(parts: SpeechParts, role: Role, pieces: Pieces, stage: Stage): AsyncIterable<Uint8Array> {
  const { request, signal } = stage;
  request.trace?.engine(role.engine.name);
  const pcm = createGain(request)(speak(role, pieces, stage));
  const { capabilities } = role.engine;
  const { stretch } = paceOf(capabilities, request.speed);
  return parts.encode(pcm, capabilities.sampleRate, request.output, signal, stretch);
}

/** The first piece says who speaks. */
async function* improvise(parts: SpeechParts, pieces: Pieces, stage: Stage): AsyncGenerator<Uint8Array> {
  const first = await pieces.next();
  if (first.done || first.value === PAUSE) return;
  const role = await castFor(parts, stage, first.value.text);
  yield* render(parts, role, behind(first.value, pieces), stage);
}

async function* perform(parts: SpeechParts, stage: Stage): AsyncGenerator<Uint8Array> {
  const { request, caller, signal } = stage;
  const role = isWhole(request) ? await castFor(parts, stage, request.text) : await rehearse(parts, stage);
  const leave = await parts.admission.enter(caller.workspaceId, KIND);
  try {
    const pieces = piecesOf(meter(parts, stage), signal);
    yield* role ? render(parts, role, pieces, stage) : improvise(parts, pieces, stage);
  } finally {
    leave();
  }
}

async function* performTimed(parts: SpeechParts, stage: Stage): AsyncGenerator<TimedAudio> {
  const timeline = new Timeline();
  const progress = progressOf(stage.request.output);
  let second = 0;
  for await (const audio of perform(parts, { ...stage, timeline })) {
    for (const piece of timeline.passed(second)) yield { audio: NO_AUDIO, piece, end: second };
    second = progress(audio);
    yield { audio, piece: timeline.current(), end: second };
  }
  for (const piece of timeline.rest()) yield { audio: NO_AUDIO, piece, end: second };
}

export const createSpeech = (parts: SpeechParts): Speech => ({
  synthesize: (request, caller, signal) => perform(parts, { request, caller, signal }),
  synthesizeTimed: (request, caller, signal) => performTimed(parts, { request, caller, signal }),
  checkQuota: ({ workspaceId }) => parts.admission.check(workspaceId, KIND),
});
