/** Checks that engines, and models of theirs, which settings name are in use: what is said of others would have no effect. */
import { SYNTHESIS_MODELS } from '../../contracts/speech/models.js';
import type { TtsEngine } from '../../contracts/ports/speech/tts.js';
import type { Transcriber } from '../../engines/long-audio.js';
import { isNamed } from '../../engines/registry.js';
import { type Config, ConfigError } from '../config.js';
import { namedEngines } from './engines.js';

type Engine = TtsEngine | Transcriber;

/** Names of engines in settings that say something about them, by the setting. */
const namedIn = ({ modelRoutes, prices }: Config): Readonly<Record<string, readonly string[]>> => ({
  MODEL_ROUTES: Object.values(modelRoutes).flat(),
  PRICES: Object.keys(prices?.engines ?? {}),
});

const spokenWith = ({ modelFor, voices }: TtsEngine): readonly string[] =>
  modelFor
    ? SYNTHESIS_MODELS.flatMap((model) =>
        ['', ...voices.map(({ name }) => name)].map((voice) => modelFor({ model, voice })),
      )
    : [];

const heardWith = ({ model, liveModel }: Transcriber): readonly string[] =>
  [model, liveModel].filter((name) => name !== undefined);

/** The models with which these engines may work; none if each has but one. */
const modelsOf = (engines: readonly Engine[]): readonly string[] => [
  ...new Set(
    engines
      .flatMap((engine) => ('synthesize' in engine ? spokenWith(engine) : heardWith(engine)))
      .filter((model) => model !== ''),
  ),
];

function checkEngines(setting: string, names: readonly string[], engines: readonly Engine[]): void {
  const unknown = names.find((name) => !engines.some((engine) => isNamed(engine, name)));
  if (unknown === undefined) return;
  const known = [...new Set(engines.map(({ name }) => name))].join(', ');
  throw new ConfigError(`${setting} names "${unknown}"; the engines in use are ${known}`);
}

function checkModels(name: string, models: readonly string[], engines: readonly Engine[]): void {
  const known = modelsOf(engines.filter((engine) => isNamed(engine, name)));
  const unknown = models.find((model) => !known.includes(model));
  if (unknown === undefined) return;
  const used = known.length === 0 ? 'which has but one' : `which works with ${known.join(', ')}`;
  throw new ConfigError(`PRICES names the model "${unknown}" of "${name}", ${used}`);
}

/** Errors: `ConfigError` for a name that no configured engine, or none of its models, has. */
export function checkNames(config: Config): void {
  const named = Object.entries(namedIn(config)).filter(([, names]) => names.length > 0);
  if (named.length === 0) return;
  const engines = namedEngines(config);
  for (const [setting, names] of named) checkEngines(setting, names, engines);
  for (const [name, { models = {} }] of Object.entries(config.prices?.engines ?? {}))
    checkModels(name, Object.keys(models), engines);
}
