/** Options that protocol A names and this service does not have (spec "Refused options", rule 6), as data. */
import type { Refusal } from '../../../contracts/schemas/refusals.js';

export const SPEECH_REFUSALS: readonly Refusal[] = [
  { option: 'instructions', why: 'Speaking instructions are not supported' },
  { option: 'stream_format', why: 'The only stream_format is `audio`', passes: ['audio'] },
];

export const TRANSCRIPTION_REFUSALS: readonly Refusal[] = [
  { option: 'include', why: 'Nothing more can be included in a transcription' },
  { option: 'known_speaker_names', why: 'Speakers are not told apart' },
  { option: 'known_speaker_references', why: 'Speakers are not told apart' },
  { option: 'url', why: 'Audio must be uploaded; addresses are not fetched' },
];
