/**
 * Implements the Speech port: admission, voice, engine, pieces, loudness, stretch, encoding, as one pulled stream.
 *
 * Invariants: synthesis is ahead of the reader by no more than the credit of the job's stream; the slot is returned
 * on every path; a failure makes the stream throw, and never just ends it (docs/contract/limits.md).
 */
import { enterJob } from './admission/job-slot.js';
import { progressOf } from '../codecs/progress.js';
import { ServiceError } from '../contracts/errors.js';
import { systemClock, type Clock } from '../contracts/clock.js';
import type { Encode } from '../contracts/ports/speech/codec.js';
import type { Admission, Caller } from '../contracts/ports/accounts/identity.js';
import type { KeptSpeech } from '../contracts/ports/speech/kept-speech.js';
import type {
  CheckedVoice,
  Speech,
  TextPart,
  TimedAudio,
  VoiceWish,
} from '../contracts/ports/speech/speech.js';
import type { VoiceLibrary } from '../contracts/ports/speech/voices.js';
import { ownerOf } from '../processes/job-owner.js';
import { CompositeVoice, type SpokenPart } from './composite-voice.js';
import { scriptsIn, scriptsInLong, type TextScripts } from './text/language.js';
import { levelOf } from './loudness.js';
import { paceOf } from './pace.js';
import { encodedBy, maybeEncodedBy } from './pass-through.js';
import type { Registry } from './registry.js';
import { PlaybackClock } from './scheduling/listener.js';
import { isWhole, type SpeechJob, type SpokenParts, type SpeechRequest, speak } from './speaking.js';
import { isHeard } from './text/speakable.js';
import { PAUSE, type Pause, type Piece, piecesOf } from './text/text-source.js';
import { Timeline } from './timeline.js';
import {
  checkScripts,
  defaultVoices,
  isComposite,
  type SelectedVoice,
  selectVoice,
} from './voice-selection.js';

export interface SpeechParts {
  readonly registry: Registry;
  /** Told of each speech that begins, before its engine is chosen; the result is called when it has ended. */
  readonly begun?: () => () => void;
  readonly voices: VoiceLibrary;
  readonly admission: Admission;
  readonly encode: Encode;
  /** Where short pieces of agents' speech are kept; absent: nowhere. */
  readonly keptSpeech?: KeptSpeech;
  readonly clock?: Clock;
}

const NO_AUDIO = new Uint8Array(0);
const KIND = 'synthesis_characters';

type Pieces = AsyncGenerator<Piece | Pause>;

async function* metered(
  parts: AsyncIterable<TextPart>,
  count: (length: number) => void,
): AsyncGenerator<TextPart> {
  for await (const part of parts) {
    if (part.kind === 'text') count(part.text.length);
    yield part;
  }
}

async function* concatenated<T>(
  first: readonly T[],
  rest: AsyncIterable<T> | readonly T[] = [],
): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

const TEXT_DECIDES = new Set<string>(['voice_language', 'language_unavailable']);

const NO_SCRIPTS: TextScripts = new Set();

const selectFor = (
  { registry, voices }: SpeechParts,
  { request, caller }: SpeechJob,
  text: string,
  scripts: TextScripts,
) => selectVoice({ ...request, text, scripts, arriving: !isWhole(request) }, caller, registry, voices);

const unlessTextDecides = (error: unknown): undefined => {
  if (!(error instanceof ServiceError && TEXT_DECIDES.has(error.code))) throw error;
};

/** Fails early on errors that the text cannot change: an unknown voice, no engine for the model. */
const validateVoice = (parts: SpeechParts, job: SpeechJob): Promise<undefined> =>
  selectFor(parts, job, '', NO_SCRIPTS).then(() => undefined, unlessTextDecides);

/** Checks a voice before there is a text: for the requested language, or for any language of the voice if none is requested. */
async function checkVoice(
  { registry, voices }: SpeechParts,
  wish: VoiceWish,
  caller: Pick<Caller, 'workspaceId'>,
): Promise<CheckedVoice> {
  const checking = selectVoice(
    { ...wish, text: '', scripts: NO_SCRIPTS, references: [] },
    caller,
    registry,
    voices,
  );
  const selected = await (wish.language === undefined ? checking.catch(unlessTextDecides) : checking);
  return { styleTags: selected?.engine.capabilities.styleTags ?? false };
}

/** Counts the text as usage: a whole text at once, otherwise as it arrives. */
function meter({ admission }: SpeechParts, { request, caller }: SpeechJob): SpeechRequest {
  const count = (length: number): void => admission.use(caller.workspaceId, KIND, length);
  if (!isWhole(request)) return { ...request, text: metered(request.text, count) };
  count(request.text.length);
  return request;
}

function render(
  parts: SpeechParts,
  first: SelectedVoice,
  spoken: SpokenParts,
  job: SpeechJob,
): AsyncIterable<Uint8Array> {
  const { request, caller, signal } = job;
  request.trace?.engine(first.engine.name);
  const pcm = speak(first, spoken, job);
  const { capabilities } = first.engine;
  const { stretch: speed } = paceOf(capabilities, request.speed);
  const level = levelOf(capabilities, request);
  const options = { speed, level, owner: ownerOf(caller) };
  return parts.encode(pcm, capabilities.sampleRate, request.output, signal, options);
}

/** Reads the pieces up to and including the first audible one. */
async function firstOf<P extends Piece>(pieces: AsyncGenerator<P | Pause>): Promise<(P | Pause)[]> {
  const first: (P | Pause)[] = [];
  for (;;) {
    const { done, value } = await pieces.next();
    if (done) return first;
    first.push(value);
    if (value !== PAUSE && isHeard(value.text, !value.goesOn)) return first;
  }
}

/**
 * The encoded audio of the parts. The voice of the first audible part decides the sample rate, or `silent` if there are no
 * parts; undefined if neither gives a voice.
 */
async function rendered(
  parts: SpeechParts,
  spoken: SpokenParts,
  silent: (() => SelectedVoice) | undefined,
  job: SpeechJob,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const first = await firstOf(spoken);
  const selected = first.findLast((each) => each !== PAUSE)?.selected ?? silent?.();
  const all = concatenated(first, spoken);
  if (!selected || !maybeEncodedBy(selected, job)) return selected && render(parts, selected, all, job);
  const whole: (SpokenPart | Pause)[] = [];
  for await (const each of all) whole.push(each);
  return encodedBy(selected, whole, job) ?? render(parts, selected, concatenated(whole), job);
}

/** Assigns the pieces of a request to voices. */
interface Division {
  partsOf(pieces: Pieces): SpokenParts;
  /** The voice for a whole text without pieces; absent for a text that still arrives. */
  readonly silent?: () => SelectedVoice;
}

async function* spokenBy(selected: SelectedVoice, pieces: AsyncIterable<Piece | Pause>): SpokenParts {
  for await (const piece of pieces) yield piece === PAUSE ? piece : { ...piece, selected };
}

/** SpokenParts of an arriving text in one voice: the first audible piece decides the language, and every piece is checked. */
async function* arrivingFor(parts: SpeechParts, pieces: Pieces, job: SpeechJob): SpokenParts {
  const first = await firstOf(pieces);
  const opening = first.findLast((each) => each !== PAUSE);
  if (!opening) return;
  const selected = await selectFor(parts, job, opening.text, scriptsIn(opening.text));
  for await (const part of spokenBy(selected, concatenated(first, pieces))) {
    if (part !== PAUSE) checkScripts(selected, scriptsIn(part.text), job.request.voice);
    yield part;
  }
}

/** SpokenParts of the default voice. Inaudible pieces at the beginning get the voice of the first audible one. */
async function* compositeParts(voice: CompositeVoice, pieces: Pieces): SpokenParts {
  const first = await firstOf(pieces);
  const opening = first.findLast((each) => each !== PAUSE);
  if (!opening) return;
  const led = [...voice.partsOf(opening)];
  const [{ selected }] = led as [SpokenPart];
  for (const each of first) {
    if (each === opening) yield* led;
    else yield each === PAUSE ? each : { ...each, selected };
  }
  for await (const piece of pieces) {
    if (piece === PAUSE) yield piece;
    else yield* voice.partsOf(piece);
  }
}

async function compositeDivision(
  { registry }: SpeechParts,
  { request, signal }: SpeechJob,
): Promise<Division> {
  const { text, likelyLanguage } = request;
  const whole = typeof text === 'string' ? { text, scripts: await scriptsInLong(text) } : undefined;
  const voice = new CompositeVoice(defaultVoices(request, registry), likelyLanguage, whole);
  await voice.check(signal);
  const partsOf = (pieces: Pieces): SpokenParts => compositeParts(voice, pieces);
  return whole ? { partsOf, silent: () => voice.voiceOfWhole(whole) } : { partsOf };
}

/** Selects the voices, and refuses what cannot be spoken, as far as that is known before the text has arrived. */
async function divisionOf(parts: SpeechParts, job: SpeechJob): Promise<Division> {
  const { request } = job;
  if (isComposite(request)) return compositeDivision(parts, job);
  if (!isWhole(request)) {
    await validateVoice(parts, job);
    return { partsOf: (pieces) => arrivingFor(parts, pieces, job) };
  }
  const selected = await selectFor(parts, job, request.text, await scriptsInLong(request.text));
  return { partsOf: (pieces) => spokenBy(selected, pieces), silent: () => selected };
}

async function* run(parts: SpeechParts, job: SpeechJob): AsyncGenerator<Uint8Array> {
  const ended = parts.begun?.();
  let leave: (() => void) | undefined;
  try {
    const { partsOf, silent } = await divisionOf(parts, job);
    leave = await enterJob(parts.admission, job.caller, KIND);
    const pieces = piecesOf(meter(parts, job), job.signal);
    const audio = await rendered(parts, partsOf(pieces), silent, job);
    if (audio) yield* audio;
  } finally {
    leave?.();
    ended?.();
  }
}

async function* runTimed(parts: SpeechParts, job: SpeechJob): AsyncGenerator<TimedAudio> {
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
  { clock = systemClock, registry, keptSpeech }: SpeechParts,
  request: SpeechRequest,
  caller: Caller,
  signal: AbortSignal,
): SpeechJob => ({
  request,
  caller,
  signal,
  listener: new PlaybackClock(clock),
  ...(keptSpeech && request.keepsRepeated && { keptSpeech }),
  ...(request.standIn && {
    others: [...new Set([...registry.speakersFor(request.model), ...registry.speakers])],
  }),
});

export const createSpeech = (parts: SpeechParts): Speech => ({
  synthesize: (request, caller, signal) => run(parts, jobOf(parts, request, caller, signal)),
  synthesizeTimed: (request, caller, signal) => runTimed(parts, jobOf(parts, request, caller, signal)),
  checkQuota: ({ workspaceId }) => parts.admission.check(workspaceId, KIND),
  checkVoice: (wish, caller) => checkVoice(parts, wish, caller),
});
