/**
 * The voices of one request of somebody on the line: an engine that fails is replaced, for the rest of the request, by the first other one
 * of the list that speaks the language. The next request begins with its own voice again.
 */
import { ServiceError, toServiceError } from '../contracts/errors.js';
import { ONLINE_TIMES } from '../contracts/limits/online-times.js';
import type { StandIn } from '../contracts/ports/speech/speech.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import type { SpokenPart } from './composite-voice.js';
import type { PlaybackClock } from './scheduling/listener.js';
import { type SelectedVoice, standInVoice } from './voice-selection.js';

export class StandInVoices {
  readonly #failed = new Set<TtsEngine>();

  /** `engines`: all that may speak, in order of preference. */
  constructor(
    private readonly engines: readonly TtsEngine[],
    private readonly standIn: StandIn,
    private readonly listener: Pick<PlaybackClock, 'aheadSeconds'>,
  ) {}

  /** The voice that speaks the part now. */
  voiceOf(part: SpokenPart): SelectedVoice {
    if (!this.#failed.has(part.selected.engine)) return part.selected;
    return this.#other(part) ?? part.selected;
  }

  /** How long the next audio of that voice is waited for, in ms: longer while earlier audio is still to be heard. */
  patience(part: SpokenPart, { engine }: SelectedVoice): number {
    const isAlone = !this.#other(part, engine);
    return (
      ONLINE_TIMES.voice[isAlone ? 'aloneMs' : 'audioMs'] + Math.round(this.listener.aheadSeconds * 1000)
    );
  }

  /** Another voice, as that one has failed. Errors: `error` if there is none. */
  instead(part: SpokenPart, { engine }: SelectedVoice, error: unknown): SelectedVoice {
    this.#failed.add(engine);
    const other = this.#other(part);
    this.standIn.failed({
      engine: engine.name,
      code: toServiceError(error).code,
      next: other?.engine.name,
    });
    if (!other) throw error;
    return other;
  }

  #other({ text, selected: { language } }: SpokenPart, besides?: TtsEngine): SelectedVoice | undefined {
    const left = this.engines.filter((engine) => engine !== besides && !this.#failed.has(engine));
    return standInVoice(left, text, language);
  }
}

/** An engine that has spoken a sentence without any sound. */
export const soundless = (): ServiceError =>
  new ServiceError('engine_failed', { message: 'The speech engine gave no audio' });
