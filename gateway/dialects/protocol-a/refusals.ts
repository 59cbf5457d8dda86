/** Options of protocol A that this service does not support (docs/contract/compatibility.md "Refused options", rule 6), as data. */
import type { Refusal } from '../../../contracts/schemas/refusals.js';

export const SPEECH_REFUSALS: readonly Refusal[] = [
  { option: 'instructions', why: 'Speaking instructions are not supported; leave instructions out' },
  {
    option: 'stream_format',
    why: 'The only stream_format is `audio`: set it to that (LiveKit\'s plugin does for model="tts-1")',
    passes: ['audio'],
  },
];

/** Options that are ignored, as the contract says, with a warning in the log. */
export const TRANSCRIPTION_IGNORED: readonly string[] = ['diarize'];

export const TRANSCRIPTION_REFUSALS: readonly Refusal[] = [
  { option: 'include', why: 'Nothing more can be included in a transcription' },
  { option: 'known_speaker_names', why: 'Speakers are not told apart' },
  { option: 'known_speaker_references', why: 'Speakers are not told apart' },
  { option: 'url', why: 'Audio must be uploaded; addresses are not fetched' },
];
