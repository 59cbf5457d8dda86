/**
 * Variables that have no effect without another one. A configuration with such a variable does not do what its author
 * believes, so it stops the start.
 */
import { EMBEDDINGS } from './embeddings.js';
import { LANGUAGE_MODEL } from './language-model.js';
import { NUMBERED_NAMES, REMOTES } from './remotes.js';
import { ConfigError, type Env, type Table } from './setting.js';
import { LIVEKIT, SETTINGS } from './settings.js';

interface Dependence {
  readonly needed: string;
  readonly by: readonly string[];
}

const {
  databaseUrl,
  databaseDirectUrl,
  tlsCert,
  tlsKey,
  sherpaTts,
  sherpaTtsLanguages,
  sherpaStt,
  sherpaSttLanguages,
} = SETTINGS;

/** Rules: all variables of a list need the same one of them. */
const allNeed = (names: readonly string[], needed: string): Dependence => ({
  needed,
  by: names.filter((name) => name !== needed),
});

const namesOf = (table: Table): readonly string[] => Object.values(table).map(({ env }) => env);

const without = (table: Table, needed: string): Dependence => allNeed(namesOf(table), needed);

/** The address of a remote service comes first of its settings. */
const needAddress = (names: readonly string[]): Dependence => allNeed(names, names[0] ?? '');

const DEPENDENCES: readonly Dependence[] = [
  without(LANGUAGE_MODEL, LANGUAGE_MODEL.llmUrl.env),
  without(EMBEDDINGS, EMBEDDINGS.embeddingModel.env),
  ...Object.values(REMOTES).map((table) => needAddress(namesOf(table))),
  ...NUMBERED_NAMES.map(needAddress),
  ...Object.values(LIVEKIT).map(({ env }) => without(LIVEKIT, env)),
  { needed: databaseUrl.env, by: [databaseDirectUrl.env] },
  { needed: tlsCert.env, by: [tlsKey.env] },
  { needed: tlsKey.env, by: [tlsCert.env] },
  { needed: sherpaTts.env, by: [sherpaTtsLanguages.env] },
  { needed: sherpaStt.env, by: [sherpaSttLanguages.env] },
];

/** Errors: `ConfigError` naming both. */
export function checkContradictions(env: Env): void {
  for (const { needed, by } of DEPENDENCES) {
    const given = by.filter((name) => env[name]);
    if (given.length > 0 && !env[needed]) {
      throw new ConfigError(`${given.join(', ')} ${given.length > 1 ? 'need' : 'needs'} ${needed} to be set`);
    }
  }
  const { embeddingModel, embeddingUrl } = EMBEDDINGS;
  const { llmUrl } = LANGUAGE_MODEL;
  if (env[embeddingModel.env] && !env[embeddingUrl.env] && !env[llmUrl.env])
    throw new ConfigError(`${embeddingModel.env} needs ${embeddingUrl.env} or ${llmUrl.env} to be set`);
}
