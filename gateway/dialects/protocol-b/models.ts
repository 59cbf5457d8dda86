/**
 * `GET /v1/models`: a plain array, with every field that the protocol requires (docs/contract/protocol-b.md 6). The
 * vendor's ids are listed as aliases, because Home Assistant takes only models that are listed.
 */
import { LANGUAGE_NAMES } from '../../../contracts/speech/languages.js';
import {
  DEFAULT_SYNTHESIS_MODEL,
  DEFAULT_TRANSCRIPTION_MODEL,
  MODEL_DETAILS,
  SYNTHESIS_MODELS,
  TRANSCRIPTION_MODELS,
} from '../../../contracts/speech/models.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { json } from '../../server/replies.js';
import { callerOf } from './auth.js';
import { type ProtocolBHandler, reading, type ProtocolBRow } from './rows.js';
import { ModelList } from './schema.js';

/** A number for clients that split texts; here only the size of the body limits a text. */
const MOST_CHARACTERS = 1_000_000;

const LANGUAGES = Object.entries(LANGUAGE_NAMES).map(([language_id, name]) => ({ language_id, name }));

const CONSTANT = {
  can_be_finetuned: false,
  can_do_voice_conversion: false,
  can_use_style: false,
  can_use_speaker_boost: false,
  serves_pro_voices: false,
  token_cost_factor: 1,
  requires_alpha_access: false,
  max_characters_request_free_user: MOST_CHARACTERS,
  max_characters_request_subscribed_user: MOST_CHARACTERS,
  maximum_text_length_per_request: MOST_CHARACTERS,
  languages: LANGUAGES,
  model_rates: { character_cost_multiplier: 1, cost_discount_multiplier: 1 },
  concurrency_group: 'standard',
} as const;

function entryOf(model: keyof typeof MODEL_DETAILS, speaks: boolean, vendor: string): object {
  const { name, description } = MODEL_DETAILS[model];
  return { model_id: `${vendor}/${model}`, name, description, can_do_text_to_speech: speaks, ...CONSTANT };
}

/** Ids of the vendor's models that clients have as their defaults; others of these families are accepted as well. */
const SYNTHESIS_ALIASES = [
  'eleven_v3',
  'eleven_multilingual_v2',
  'eleven_flash_v2_5',
  'eleven_flash_v2',
  'eleven_turbo_v2_5',
  'eleven_turbo_v2',
  'eleven_multilingual_v1',
  'eleven_monolingual_v1',
] as const;
const TRANSCRIPTION_ALIASES = ['scribe_v1', 'scribe_v2', 'scribe_v2_realtime'] as const;

const aliasOf = (id: string, entry: object, model: string): object => ({
  ...entry,
  model_id: id,
  name: id,
  description: `Alias of ${model}`,
});

function withAliases(
  model: keyof typeof MODEL_DETAILS,
  ids: readonly string[],
  speaks: boolean,
  vendor: string,
) {
  const entry = entryOf(model, speaks, vendor);
  return ids.map((id) => aliasOf(id, entry, `${vendor}/${model}`));
}

/** The models, and then the aliases. */
export const modelList = ({ vendor }: Pick<Vocabulary, 'vendor'>): readonly object[] => [
  ...SYNTHESIS_MODELS.map((model) => entryOf(model, true, vendor)),
  ...TRANSCRIPTION_MODELS.map((model) => entryOf(model, false, vendor)),
  ...withAliases(DEFAULT_SYNTHESIS_MODEL, SYNTHESIS_ALIASES, true, vendor),
  ...withAliases(DEFAULT_TRANSCRIPTION_MODEL, TRANSCRIPTION_ALIASES, false, vendor),
];

const listModels: ProtocolBHandler = async (request, parts) => {
  await callerOf(request, parts);
  return json(200, modelList(parts.vocabulary));
};

export const MODEL_ROWS: readonly ProtocolBRow[] = [
  {
    method: 'GET',
    path: '/v1/models',
    permission: 'catalogue',
    handler: listModels,
    description: reading('List the models (protocol B)', ModelList, [401]),
  },
];
