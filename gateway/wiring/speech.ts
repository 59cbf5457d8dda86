/** Wires synthesis and transcription of one gateway: engines in children and at remotes, codecs, the voice library. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT } from '../../contracts/places.js';
import { createDecode } from '../../codecs/decode/decoder.js';
import { createEncode } from '../../codecs/encode/encoder.js';
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import type { MemoryLedger } from '../../contracts/ports/accounts/memory.js';
import type { Admission } from '../../contracts/ports/accounts/identity.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import type { Denoiser } from '../../contracts/ports/speech/denoiser.js';
import type { TurnsInUse } from '../../contracts/ports/speech/turns.js';
import { SpeechShelves } from '../../engines/kept-speech.js';
import { createSpeech } from '../../engines/synthesize.js';
import { createTranscription } from '../../engines/transcribe.js';
import { DenoiserInChild } from '../../engines/denoising/denoiser-in-child.js';
import { TurnModelInChild } from '../../engines/turns/model-in-child.js';
import { createVoices } from '../../engines/voices.js';
import type { Database } from '../../storage/postgres/database.js';
import { createClonedVoices } from '../../storage/voices.js';
import type { Children } from './children.js';
import { type Config, modelChoice, type ModelChoice } from '../config.js';
import { EngineMaker } from './engines.js';
import { learnVoices } from './learn-voices.js';
import { SpeechUses } from './speech-uses.js';

const DECODE_ONCE = fileURLToPath(new URL('gateway/workers/decode-once.js', BUILT));

export interface OpenSpeechOptions {
  readonly config: Config;
  readonly database: Database;
  readonly children: Children;
  /** Holds uploads while they are decoded. */
  readonly runtimeFolder: string;
  readonly admission: Admission;
  readonly memory: MemoryLedger;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

/** The audio model for end-of-turn detection, while it is added. */
class TurnsOfChild implements TurnsInUse {
  readonly #model: TurnModelInChild;
  #detector: NonNullable<Config['turns']>['detector'] | undefined;

  constructor({ config, children, clock, log }: OpenSpeechOptions) {
    this.#model = new TurnModelInChild(children.pool('turns'), clock, log);
    this.use(config);
  }

  use({ turns }: Pick<Config, 'turns'>): void {
    this.#detector = turns?.detector;
  }

  get inUse() {
    return this.#detector && { detector: this.#detector, model: this.#model };
  }

  get answers() {
    return this.#model.answers;
  }
}

/** Noise reduction, while its model is added. */
class DenoiserOfChild {
  readonly #denoiser: Denoiser;
  #isThere = false;

  constructor({ config, children, clock, log }: OpenSpeechOptions) {
    this.#denoiser = new DenoiserInChild(children.pool('denoise'), clock, log);
    this.use(config);
  }

  use({ denoiser }: Pick<Config, 'denoiser'>): void {
    this.#isThere = denoiser !== undefined;
  }

  get inUse(): Denoiser | undefined {
    return this.#isThere ? this.#denoiser : undefined;
  }
}

/** Errors: one that names FFMPEG_PATH. */
export async function openSpeech(options: OpenSpeechOptions) {
  const { config, database, children, runtimeFolder, admission, memory, keeper, ids, clock, log } = options;
  const decode = createDecode({
    tempFolder: join(runtimeFolder, 'uploads'),
    decodeOnce: DECODE_ONCE,
    ffmpegPath: config.ffmpegPath,
  });
  const encode = createEncode(children.pool('encode'));
  const maker = new EngineMaker((role) => children.pool(role), keeper, log);
  const registry = maker.registryOf(config);
  const denoiser = new DenoiserOfChild(options);
  const turns = new TurnsOfChild(options);
  const cloned = await createClonedVoices({ database, ids, clock, log });
  const stopLearning = await learnVoices(registry.speakers, clock, log);
  const uses = new SpeechUses(runtimeFolder, clock);
  const voices = createVoices(() => registry.speakers, cloned);
  const keptSpeech = new SpeechShelves(memory, clock);
  const hearing = {
    ...{ registry, admission, decode },
    get denoiser() {
      return denoiser.inUse;
    },
  };
  let inUse: ModelChoice = modelChoice(config);
  return {
    decode,
    registry,
    voices,
    turns,
    keptSpeech,
    speech: createSpeech({ registry, voices, admission, encode, keptSpeech, clock, begun: uses.begun }),
    transcription: createTranscription(hearing),
    denoiser,
    /** The models that this process uses now. */
    get choice() {
      return inUse;
    },
    /** Takes up what models were added, and leaves those that are gone. Errors: `ConfigError`; nothing has changed then. */
    use(changed: Config): void {
      registry.use(maker.enginesOf(changed));
      keptSpeech.forget();
      uses.changed();
      denoiser.use(changed);
      turns.use(changed);
      inUse = modelChoice(changed);
    },
    stop(): void {
      stopLearning();
      cloned.stop();
      uses.stop().catch(() => undefined);
    },
  };
}

export type OpenSpeech = Awaited<ReturnType<typeof openSpeech>>;
