/**
 * Options of protocol B that this service does not have (docs/contract/compatibility.md "Refused options"), as data.
 * Values that count as unset are not refused (rule 3).
 */
import { isUnset } from '../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Refusal } from '../../../contracts/schemas/refusals.js';
import { GRANULARITIES } from './schema.js';

const NO_SPEAKERS = 'Speakers are not told apart';
const NO_ENTITIES = 'Entities are not detected';
const NO_ADDRESSES = 'Audio must be uploaded; addresses are not fetched';
const NO_WEBHOOKS = 'Transcripts are answered, not delivered';

export const TRANSCRIPTION_REFUSALS: readonly Refusal[] = [
  { option: 'diarize', why: 'Speakers are not told apart; set diarize to false' },
  { option: 'entity_redaction', why: NO_ENTITIES },
  { option: 'entity_detection', why: NO_ENTITIES },
  { option: 'entity_redaction_mode', why: NO_ENTITIES },
  { option: 'use_multi_channel', why: 'Channels are not transcribed apart' },
  { option: 'additional_formats', why: 'There are no additional formats' },
  { option: 'tag_audio_events', why: 'Audio events are not tagged; set tag_audio_events to false' },
  { option: 'no_verbatim', why: 'Transcripts are verbatim' },
  { option: 'webhook', why: NO_WEBHOOKS },
  { option: 'webhook_id', why: NO_WEBHOOKS },
  { option: 'transcript_edit', why: 'Transcripts are not edited' },
  { option: 'detect_speaker_roles', why: NO_SPEAKERS },
  { option: 'use_speaker_library', why: NO_SPEAKERS },
  { option: 'filter_background_audio', why: 'Voices in the background are transcribed, too' },
  { option: 'secondary_languages', why: 'One language is transcribed; name it as language_code' },
  { option: 'source_url', why: NO_ADDRESSES },
  { option: 'cloud_storage_url', why: NO_ADDRESSES },
  {
    option: 'timestamps_granularity',
    why: 'Characters are not timed; `word` and `none` are supported',
    passes: GRANULARITIES,
  },
];

/** Options that would change how a text sounds. */
export const SPEECH_REFUSALS: readonly Refusal[] = [
  {
    option: 'pronunciation_dictionary_locators',
    why: 'There are no pronunciation dictionaries; spell the words as they are to be said',
  },
];

/** Values that count as absent, so that the default applies: to log. */
const SILENT = new Set(['', 'null', 'none', '[]', '{}']);

/** Refuses `enable_logging` if it is false, unlike other options. Errors: `unsupported_option`. */
export function refuseUnlogged(values: readonly string[]): void {
  const value = values.at(-1)?.trim().toLowerCase() ?? '';
  if (SILENT.has(value) || !isUnset(value)) return;
  const message = 'Requests cannot be left out of the log';
  throw new ServiceError('unsupported_option', { message, param: 'enable_logging' });
}
