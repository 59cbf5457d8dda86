/**
 * The configuration, read once at start from environment variables. The variables are the tables of config/settings.ts.
 * A value that does not parse stops the start with a line that names it.
 */
import { resolve } from 'node:path';
import type { Vocabulary } from '../contracts/vocabulary.js';
import { checkContradictions } from './config/contradictions.js';
import { modelFolder } from './config/model-folders.js';
import { strangeBase } from './config/pcm-rates.js';
import { readRemotes, type Remotes } from './config/remotes.js';
import { ConfigError, type Env, readTable } from './config/setting.js';
import { LIVEKIT, SETTINGS, VOCABULARY } from './config/settings.js';
import { basesOf } from './dialects/protocol-a/bases.js';

export { ConfigError } from './config/setting.js';
export type { RemoteName } from './config/remotes.js';
export type { IceServer } from './config/settings.js';

type Settings = ReturnType<typeof readTable<typeof SETTINGS>>;

/** A LiveKit server or cluster that sessions are held on instead of here. */
export interface LivekitServer {
  /** `wss://…`, for agents, clients and the room service alike. */
  readonly url: string;
  readonly key: string;
  readonly secret: string;
}

export interface Config extends Settings {
  readonly vocabulary: Vocabulary;
  /** Those whose address is told. */
  readonly remotes: Remotes;
  readonly livekit: LivekitServer | undefined;
}

/** All of its variables, or none. */
function readLivekit(env: Env): LivekitServer | undefined {
  const { url, key, secret } = readTable(LIVEKIT, env);
  return url && key && secret ? { url, key, secret } : undefined;
}

/** Errors: `ConfigError` for a base that does not exist. */
function checkPcmRates({ pcmRates, vocabulary }: Config): void {
  const bases = basesOf(vocabulary);
  const strange = strangeBase(pcmRates, bases);
  if (strange === undefined) return;
  const known = bases.map(({ path }) => path).join(', ');
  throw new ConfigError(`PCM_RATE names ${strange}, which is none of ${known}`);
}

/** Errors: `ConfigError` naming the variable. */
export function readConfig(env: Env): Config {
  const settings = readTable(SETTINGS, env);
  const vocabulary = readTable(VOCABULARY, env);
  const config = {
    ...settings,
    dataDir: resolve(settings.dataDir),
    sherpaTts: modelFolder(settings.sherpaTts, settings.modelsDir),
    sherpaStt: modelFolder(settings.sherpaStt, settings.modelsDir),
    vocabulary,
    remotes: readRemotes(env),
    livekit: readLivekit(env),
  };
  checkPcmRates(config);
  checkContradictions(env);
  return config;
}
