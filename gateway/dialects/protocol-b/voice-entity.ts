/** A voice as protocol B shows it (docs/contract/protocol-b.md 6). Labels hold text only, since clients reject anything else. */
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { DEFAULT_SYNTHESIS_MODEL } from '../../../contracts/speech/models.js';
import type { Voice } from '../../../contracts/ports/speech/voices.js';

/** Fields that this service neither knows nor stores. */
const CONSTANT = {
  samples: null,
  fine_tuning: null,
  preview_url: null,
  available_for_tiers: [],
  sharing: null,
  high_quality_base_model_ids: [],
  safety_control: null,
  voice_verification: null,
  permission_on_resource: null,
  is_legacy: false,
  is_mixed: false,
} as const;

/** A voice's default settings. */
export const SETTINGS = {
  stability: 0.5,
  similarity_boost: 0.75,
  style: 0,
  use_speaker_boost: true,
  speed: 1,
} as const;

export const categoryOf = ({ kind }: Voice): 'premade' | 'cloned' =>
  kind === 'engine' ? 'premade' : 'cloned';

export function labelsOf({ languages, tags }: Voice): Readonly<Record<string, string>> {
  const [language] = languages;
  return {
    ...(language === undefined ? {} : { language }),
    ...(tags.length === 0 ? {} : { tags: tags.join(', ') }),
  };
}

export const createdAt = (voice: Pick<Voice, 'createdAt'>): number =>
  Math.floor(voice.createdAt.getTime() / 1000);

export const entityOf = (voice: Voice, { vendor }: Pick<Vocabulary, 'vendor'>): object => ({
  voice_id: voice.id,
  name: voice.title,
  category: categoryOf(voice),
  labels: labelsOf(voice),
  description: voice.description === '' ? null : voice.description,
  ...CONSTANT,
  settings: SETTINGS,
  verified_languages: voice.languages.map((language) => ({
    language,
    model_id: `${vendor}/${DEFAULT_SYNTHESIS_MODEL}`,
  })),
  is_owner: voice.kind === 'cloned',
  created_at_unix: createdAt(voice),
});
