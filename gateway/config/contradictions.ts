/**
 * Variables that have no effect without another one. A configuration with such a variable does not do what its author
 * believes, so it stops the start.
 */
import { EMBEDDINGS } from './embeddings.js';
import { LANGUAGE_MODEL } from './language-model.js';
import { REMOTES } from './remotes.js';
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

/** Rules: all variables of a table need the same one. */
const without = (table: Table, needed: string): Dependence => ({
  needed,
  by: Object.values(table)
    .map(({ env }) => env)
    .filter((env) => env !== needed),
});

const DEPENDENCES: readonly Dependence[] = [
  without(LANGUAGE_MODEL, LANGUAGE_MODEL.llmUrl.env),
  without(EMBEDDINGS, EMBEDDINGS.embeddingModel.env),
  ...Object.values(REMOTES).map((table) => without(table, table.urls.env)),
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
