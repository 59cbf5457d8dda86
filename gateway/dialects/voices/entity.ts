/** A voice as `/model` shows it, with every field that clients' SDKs require. */
import type { Voice } from '../../../contracts/ports/speech/voices.js';
import type { ModelEntity } from './schema.js';

/** Fields that this service neither counts nor stores. */
const CONSTANT = {
  type: 'tts',
  state: 'trained',
  cover_image: '',
  default_text: '',
  like_count: 0,
  mark_count: 0,
  shared_count: 0,
  task_count: 0,
  liked: false,
  marked: false,
  unliked: false,
  // The Python client of this API accepts no other value.
  train_mode: 'fast',
} as const;

export const entityOf = (voice: Voice): ModelEntity => ({
  _id: voice.id,
  ...CONSTANT,
  title: voice.title,
  description: voice.description,
  tags: [...voice.tags],
  samples: [],
  created_at: voice.createdAt.toISOString(),
  updated_at: voice.updatedAt.toISOString(),
  languages: [...voice.languages],
  visibility: voice.visibility,
  lock_visibility: voice.kind === 'engine',
  author: { _id: voice.author.id, nickname: voice.author.name, avatar: '' },
});
