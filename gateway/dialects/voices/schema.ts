/** Bodies and answers of `/model` and `/wallet` (docs/contract/native.md 5): types, validators, OpenAPI. */
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import { LIMITS } from '../../../contracts/limits.js';
import { VISIBILITIES } from '../../../contracts/ports/speech/voices.js';
import { type Static, Type } from '../../../contracts/schemas/type.js';

const limits = LIMITS.voice;

/** Text without NUL, which databases cannot store in text. */
const STORABLE = '^[^\\u0000]*$';

const text = (length: { min: number; max: number } | number) =>
  typeof length === 'number'
    ? Type.String({ maxLength: length, pattern: STORABLE })
    : Type.String({ minLength: length.min, maxLength: length.max, pattern: STORABLE });

const whole = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Integer({ minimum: bounds.min, maximum: bounds.max, ...extra });

const Tags = Type.Array(text(limits.tag), { maxItems: limits.tags });
const Title = text(limits.title);
const Description = text(limits.description);
const Visibility = Type.Enum([...VISIBILITIES], {
  description: 'Stored and returned; a voice is visible to its own workspace only.',
});
/** Cover image that clients of the original service send. */
const Cover = Type.Optional(Type.Unknown({ description: 'Accepted, but not stored.' }));

const AnyLanguage = Type.Array(Type.String({ maxLength: 16 }), {
  maxItems: LANGUAGES.length,
  description: 'Any of them.',
});

export const ListQuery = Type.Object({
  page_size: Type.Optional(whole(limits.pageSize, { default: limits.pageSize.default })),
  page_number: Type.Optional(whole(limits.pageNumber, { default: 1 })),
  title: Type.Optional(text(limits.title)),
  tag: Type.Optional(Tags),
  self: Type.Optional(Type.Boolean({ description: 'Only voices of this workspace.' })),
  author_id: Type.Optional(text(limits.tag)),
  language: Type.Optional(AnyLanguage),
  title_language: Type.Optional(AnyLanguage),
  sort_by: Type.Optional(Type.Enum(['score', 'task_count', 'created_at'], { default: 'score' })),
});
export type ListQuery = Static<typeof ListQuery>;

export const Creation = Type.Object({
  type: Type.Enum(['tts']),
  title: Title,
  // Older clients for Python misspell its name, so that it is missing.
  train_mode: Type.Optional(Type.Enum(['fast'], { default: 'fast' })),
  visibility: Type.Optional(Visibility),
  description: Type.Optional(Description),
  texts: Type.Optional(
    Type.Array(text(limits.referenceText), {
      maxItems: limits.references.max,
      description: 'What each file says, in the same order; all or none.',
    }),
  ),
  tags: Type.Optional(Tags),
  cover_image: Cover,
  enhance_audio_quality: Type.Optional(
    Type.Boolean({ description: 'Accepted; the audio goes to the engine unchanged.' }),
  ),
  generate_sample: Type.Optional(Type.Boolean({ description: 'Accepted; no samples are made.' })),
});
export type Creation = Static<typeof Creation>;

export const Changes = Type.Object({
  title: Type.Optional(Title),
  description: Type.Optional(Description),
  visibility: Type.Optional(Visibility),
  tags: Type.Optional(Tags),
  cover_image: Cover,
});
export type Changes = Static<typeof Changes>;

const Sample = Type.Object({
  title: Type.String(),
  text: Type.String(),
  task_id: Type.String(),
  audio: Type.String(),
});

const Moment = Type.String({ format: 'date-time' });

export const ModelEntity = Type.Object({
  _id: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  type: Type.Enum(['svc', 'tts']),
  title: Type.String(),
  description: Type.String(),
  cover_image: Type.String(),
  train_mode: Type.Literal('fast'),
  state: Type.Enum(['created', 'training', 'trained', 'failed']),
  tags: Type.Array(Type.String()),
  samples: Type.Array(Sample),
  created_at: Moment,
  updated_at: Moment,
  languages: Type.Array(Type.String()),
  visibility: Type.Enum([...VISIBILITIES]),
  lock_visibility: Type.Boolean(),
  default_text: Type.String(),
  like_count: Type.Integer(),
  mark_count: Type.Integer(),
  shared_count: Type.Integer(),
  task_count: Type.Integer(),
  liked: Type.Boolean(),
  marked: Type.Boolean(),
  unliked: Type.Boolean(),
  author: Type.Object({ _id: Type.String(), nickname: Type.String(), avatar: Type.String() }),
});
export type ModelEntity = Static<typeof ModelEntity>;

export const ModelPage = Type.Object({
  total: Type.Integer(),
  items: Type.Array(ModelEntity),
  has_more: Type.Boolean(),
  total_is_exact: Type.Boolean(),
  window_limited: Type.Boolean(),
  max_offset: Type.Integer(),
  accessible_upper_bound: Type.Integer(),
});
export type ModelPage = Static<typeof ModelPage>;

export const ApiCredit = Type.Object({
  _id: Type.String(),
  user_id: Type.String(),
  credit: Type.String({
    description: 'Characters of synthesis left this month; 1000000000.000000 without a quota.',
  }),
  cumulative_top_up: Type.String({ description: "The month's whole quota." }),
  created_at: Moment,
  updated_at: Moment,
  has_phone_sha256: Type.Boolean(),
  has_free_credit: Type.Boolean(),
});

export const Package = Type.Object({
  _id: Type.String(),
  user_id: Type.String(),
  type: Type.String({ description: '`monthly` with a quota, else `unlimited`.' }),
  total: Type.Integer({ description: 'Characters of synthesis a month.' }),
  balance: Type.Integer(),
  created_at: Moment,
  updated_at: Moment,
  finished_at: Moment,
});

export const ErrorBody = Type.Object({ status: Type.Integer(), message: Type.String() });
