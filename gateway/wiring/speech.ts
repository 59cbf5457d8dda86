/** Wires synthesis and transcription of one gateway: engines in children and at remotes, codecs, the voice library. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUILT } from '../../contracts/places.js';
import { createDecode } from '../../codecs/decode/decoder.js';
import { createEncode } from '../../codecs/encode/encoder.js';
import type { Clock } from '../../contracts/clock.js';
import type { Ids } from '../../contracts/ids.js';
import type { Log } from '../../contracts/log.js';
import type { Admission } from '../../contracts/ports/accounts/identity.js';
import type { Keeper } from '../../contracts/ports/parts.js';
import { createSpeech } from '../../engines/synthesize.js';
import { createTranscription } from '../../engines/transcribe.js';
import { DenoiserInChild } from '../../engines/denoising/denoiser-in-child.js';
import { TurnModelInChild } from '../../engines/turns/model-in-child.js';
import { createVoices } from '../../engines/voices.js';
import type { Database } from '../../storage/postgres/database.js';
import { createClonedVoices } from '../../storage/voices.js';
import type { Children } from './children.js';
import type { Config } from '../config.js';
import { reachEngines } from './engines.js';
import { learnVoices } from './learn-voices.js';

const DECODE_ONCE = fileURLToPath(new URL('gateway/workers/decode-once.js', BUILT));

export interface OpenSpeechOptions {
  readonly config: Config;
  readonly database: Database;
  readonly children: Children;
  /** Holds uploads while they are decoded. */
  readonly runtimeFolder: string;
  readonly admission: Admission;
  readonly keeper: Keeper;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Log;
}

/** The audio model for end-of-turn detection, if one was added. */
function openTurns({ config: { turns }, children, clock, log }: OpenSpeechOptions) {
  if (!turns) return undefined;
  return { detector: turns.detector, model: new TurnModelInChild(children.pool('turns'), clock, log) };
}

/** Noise reduction, if its model was added. */
const openDenoiser = ({ config: { denoiser }, children, clock, log }: OpenSpeechOptions) =>
  denoiser === undefined ? undefined : new DenoiserInChild(children.pool('denoise'), clock, log);

/** Errors: one that names FFMPEG_PATH. */
export async function openSpeech(options: OpenSpeechOptions) {
  const { config, database, children, runtimeFolder, admission, keeper, ids, clock, log } = options;
  const decode = createDecode({
    tempFolder: join(runtimeFolder, 'uploads'),
    decodeOnce: DECODE_ONCE,
    ffmpegPath: config.ffmpegPath,
  });
  const encode = createEncode(children.pool('encode'));
  const registry = reachEngines(config, (role) => children.pool(role), keeper, log);
  const denoiser = openDenoiser(options);
  const cloned = await createClonedVoices({ database, ids, clock, log });
  const stopLearning = await learnVoices(registry.speakers, clock, log);
  const voices = createVoices(registry.speakers, cloned);
  return {
    decode,
    registry,
    voices,
    turns: openTurns(options),
    speech: createSpeech({ registry, voices, admission, encode, clock }),
    transcription: createTranscription({ registry, admission, decode, denoiser }),
    denoiser,
    stop(): void {
      stopLearning();
      cloned.stop();
    },
  };
}
