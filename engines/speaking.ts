/**
 * Speaks one request: its parts, each with its own voice, become samples at one rate and pace. The first part's engine
 * determines both; the audio of other engines is resampled, and requested at the speed that makes up the same pace.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { encoderDelaySeconds } from '../codecs/encoder-delay.js';
import { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { Caller } from '../contracts/ports/accounts/identity.js';
import type {
  StreamingSynthesisRequest,
  SynthesisRequest,
  WorkedBy,
} from '../contracts/ports/speech/speech.js';
import { KEPT, type KeptSpeech } from '../contracts/ports/speech/kept-speech.js';
import { whomOf } from '../contracts/ports/parts.js';
import type { JobOwner } from '../contracts/ports/jobs.js';
import type {
  TimedWord,
  TtsCapabilities,
  TtsEngine,
  TtsEvent,
  TtsRequest,
} from '../contracts/ports/speech/tts.js';
import { ownerOf } from '../processes/job-owner.js';
import { hasSound } from './backends/sound.js';
import type { SpokenPart } from './composite-voice.js';
import { inTime } from './in-time.js';
import { type RepeatedPiece, repeatedPiece } from './repeated-pieces.js';
import { isTurnOver } from '../contracts/time/loop-turn.js';
import { paceOf, stretchedWord } from './pace.js';
import { Resampling } from './resampling.js';
import type { PlaybackClock } from './scheduling/listener.js';
import { soundless, StandInVoices } from './stand-in-voices.js';
import { type Speakable, speakable } from './text/speakable.js';
import { SpeakerTags } from './text/style-tags.js';
import { SourceWords } from './text/source-words.js';
import { PAUSE, type Pause } from './text/text-source.js';
import type { Timeline } from './timeline.js';
import type { SelectedVoice } from './voice-selection.js';

export type SpeechRequest = SynthesisRequest | StreamingSynthesisRequest;

/** One request while it is synthesised. */
export interface SpeechJob {
  readonly request: SpeechRequest;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** Measures how urgent the next piece is. */
  readonly listener: PlaybackClock;
  /** Engines that may speak where the request's own fails somebody on the line, in order of preference. */
  readonly others?: readonly TtsEngine[];
  /** Where short pieces are kept as sound; absent: nowhere. */
  readonly keptSpeech?: KeptSpeech;
  /** Records when each piece and word is spoken; absent if the client wants no times. */
  readonly timeline?: Timeline;
}

export type SpokenParts = AsyncGenerator<SpokenPart | Pause>;

export const isWhole = (request: SpeechRequest): request is SynthesisRequest =>
  typeof request.text === 'string';

const mustBeHeard = (request: SpeechRequest): boolean => isWhole(request) && /\S/u.test(request.text);

/** Turns what is spoken of a piece into the engine's text: each piece tells engines with several speakers who speaks. */
function engineTextFor({ styleTags, speakers }: TtsCapabilities): (text: string) => string {
  const tags = new SpeakerTags();
  return styleTags && speakers ? (text) => tags.carry(text) : (text) => text;
}

/** The piece without what nobody speaks, for the engine of this voice. */
export function spokenOf(
  { text, goesOn }: Pick<SpokenPart, 'text' | 'goesOn'>,
  { engine, language }: Pick<SelectedVoice, 'engine' | 'language'>,
): Speakable {
  const { styleTags } = engine.capabilities;
  return speakable(text, { language, styleTags, beginsLine: !goesOn });
}

/** A voice at the pace of the request, with all options of its engine's request except the text. */
interface PreparedVoice {
  readonly selected: SelectedVoice;
  readonly options: Omit<TtsRequest, 'text'>;
  readonly owner: JobOwner;
  engineText(text: string): string;
}

export function preparedVoiceOf(
  selected: SelectedVoice,
  stretch: number,
  { request, caller, timeline }: SpeechJob,
): PreparedVoice {
  const { engine, voice, speakers, language, references } = selected;
  const { model, sampling, normalize, latency, chunkLength, normalizeLoudness, trace, speed } = request;
  const { capabilities } = engine;
  const { own } = paceOf(capabilities, speed / stretch);
  const timing = timeline !== undefined && capabilities.timing === 'word';
  const options = {
    voice,
    language,
    speed: own,
    timing,
    model,
    sampling,
    references,
    latency,
    chunkLength,
    whom: whomOf(caller),
    ...(speakers && { speakers }),
    ...(normalize !== undefined && { normalize }),
    ...(normalizeLoudness !== undefined && { normalizeLoudness }),
    ...(trace && { traceContext: trace.context }),
  };
  return { selected, options, owner: ownerOf(caller), engineText: engineTextFor(capabilities) };
}

/** Who speaks with that voice. */
function workOf({ selected: { engine }, options }: PreparedVoice): WorkedBy {
  const model = engine.modelFor?.(options);
  return { engine: engine.name, ...(model !== undefined && { model }) };
}

/** The voices of a job, each created once. */
class PreparedVoices {
  readonly #known: PreparedVoice[] = [];

  constructor(
    private readonly stretch: number,
    private readonly job: SpeechJob,
  ) {}

  of(selected: SelectedVoice): PreparedVoice {
    const known = this.#known.find(
      ({ selected: { engine, voice, language } }) =>
        engine === selected.engine && voice === selected.voice && language === selected.language,
    );
    if (known) return known;
    const voice = preparedVoiceOf(selected, this.stretch, this.job);
    this.#known.push(voice);
    return voice;
  }
}

async function* resampled(
  events: AsyncIterable<TtsEvent>,
  rate: number,
  target: number,
): AsyncGenerator<TtsEvent> {
  const resampling = new Resampling(rate, target);
  for await (const event of events)
    yield event.kind === 'word' ? event : { kind: 'audio', samples: resampling.push(event.samples) };
  yield { kind: 'audio', samples: resampling.finish() };
}

/** The engine's events for its text of a part, with the audio at `rate`. Errors: the engine's. */
function synthesized(
  text: string,
  { selected, options, owner }: PreparedVoice,
  rate: number,
  { listener }: SpeechJob,
  signal: AbortSignal,
): AsyncIterable<TtsEvent> {
  const { engine } = selected;
  const { sampleRate } = engine.capabilities;
  const demand = { ...owner, aheadSeconds: listener.aheadSeconds };
  const events = engine.synthesize({ ...options, text, demand }, signal);
  return sampleRate === rate ? events : resampled(events, sampleRate, rate);
}

/** Speaks the parts of a job one after the other. */
class Speaker {
  readonly #pace: ReturnType<typeof paceOf>;
  readonly #rate: number;
  readonly #voicesAtPace: PreparedVoices;
  readonly #voices: StandInVoices | undefined;
  heard = false;
  /** Whether any part had something to be heard. */
  #sounding = false;

  constructor(
    { engine: { capabilities } }: SelectedVoice,
    private readonly job: SpeechJob,
  ) {
    const { request, timeline, listener, others = [] } = job;
    this.#pace = paceOf(capabilities, request.speed);
    this.#rate = capabilities.sampleRate;
    this.#voicesAtPace = new PreparedVoices(this.#pace.stretch, job);
    this.#voices = request.standIn && new StandInVoices(others, request.standIn, listener);
    timeline?.open(this.#rate * this.#pace.stretch);
  }

  /** Flushes the end of the speech out of the encoder, which would hold it until more text comes. */
  silence(): Int16Array {
    const { stretch } = this.#pace;
    const { output } = this.job.request;
    const silence = new Int16Array(encoderDelaySeconds(output, stretch) * stretch * this.#rate);
    this.job.timeline?.paused(silence.length);
    return silence;
  }

  /** What a text of nothing but symbols sounds like. Errors: `nothing_to_say` if there was more, which nobody spoke. */
  symbols(): Int16Array {
    if (this.#sounding) throw new ServiceError('nothing_to_say');
    return new Int16Array(Math.round((LIMITS.symbolsMs / 1000) * this.#pace.stretch * this.#rate));
  }

  /** The samples of a part. Errors: those of the last engine that can speak it. */
  partOf(part: SpokenPart): AsyncGenerator<Int16Array> {
    return this.#voices ? this.#spokenByAny(this.#voices, part) : this.#spokenBy(part.selected, part);
  }

  async *#spokenByAny(voices: StandInVoices, part: SpokenPart): AsyncGenerator<Int16Array> {
    for (let selected = voices.voiceOf(part) ?? part.selected; ;) {
      try {
        return yield* this.#spokenBy(selected, part);
      } catch (error) {
        if (this.job.signal.aborted) throw error;
        this.job.timeline?.end(false);
        selected = voices.instead(part, selected, error);
      }
    }
  }

  async *#spokenBy(selected: SelectedVoice, part: SpokenPart): AsyncGenerator<Int16Array> {
    const { timeline } = this.job;
    const voice = this.#voicesAtPace.of(selected);
    const spoken = spokenOf(part, selected);
    const isSounding = hasSound(spoken.text);
    this.#sounding ||= isSounding;
    const { by, events } = this.#saying(part, spoken.text, voice);
    timeline?.begin(part, voice.options.timing === true, by);
    const words = new SourceWords(part.text, spoken);
    let length = 0;
    for await (const event of events) {
      if (event.kind === 'word') {
        this.#tell(words.add(event.word));
        continue;
      }
      const { samples } = event;
      this.#receive(samples);
      length += samples.length;
      yield samples;
      // Lets requests without any audio yet go before later audio of this one.
      if (!this.heard || isTurnOver()) await nextTurn();
      this.heard ||= samples.length > 0;
    }
    this.#tell(words.rest());
    if (this.#voices && length === 0 && isSounding) throw soundless();
    timeline?.end();
  }

  /** Looks for the sound of the piece. */
  #repeated(text: string, { selected: { engine }, options }: PreparedVoice): RepeatedPiece | undefined {
    const { keptSpeech, caller } = this.job;
    const wish = { engine, request: { ...options, text }, rate: this.#rate };
    return keptSpeech && repeatedPiece(keptSpeech, caller.workspaceId, wish);
  }

  #eventsOf(part: SpokenPart, text: string, voice: PreparedVoice): AsyncIterable<TtsEvent> {
    const { job } = this;
    const voices = this.#voices;
    const work = (signal: AbortSignal) => synthesized(text, voice, this.#rate, job, signal);
    return voices ? inTime(work, () => voices.patience(part, voice.selected), job.signal) : work(job.signal);
  }

  /** The events of a part and who speaks it: its sound if that is kept, else the engine. */
  #saying(part: SpokenPart, spoken: string, voice: PreparedVoice) {
    const text = voice.engineText(spoken);
    const repeated = hasSound(spoken) ? this.#repeated(text, voice) : undefined;
    if (repeated?.kept) return { by: KEPT, events: repeated.kept };
    const events = this.#eventsOf(part, text, voice);
    return { by: workOf(voice), events: repeated?.spoken(events, this.job.signal) ?? events };
  }

  #tell(words: readonly TimedWord[]): void {
    for (const word of words) this.job.timeline?.word(stretchedWord(word, this.#pace));
  }

  #receive({ length }: Int16Array): void {
    const { timeline, listener } = this.job;
    timeline?.made(length);
    listener.receive(length / (this.#rate * this.#pace.stretch));
  }
}

/**
 * The samples of the whole text, part by part, at the first one's rate and not yet stretched. Errors: the engines';
 * `nothing_to_say` if a whole text gave no samples, but one of symbols only, which is a short silence.
 */
export async function* speak(
  first: SelectedVoice,
  parts: SpokenParts,
  job: SpeechJob,
): AsyncGenerator<Int16Array> {
  const speaker = new Speaker(first, job);
  for await (const part of parts) {
    if (part === PAUSE) yield speaker.silence();
    else yield* speaker.partOf(part);
  }
  if (!speaker.heard && mustBeHeard(job.request)) yield speaker.symbols();
}
