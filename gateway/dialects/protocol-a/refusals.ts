/**
 * Options that protocol A names and this service does not have (spec "Refused options", rule 6), as data.
 * An option that is unset by rule 3 is not asked for.
 */
import { isUnset } from '../../../contracts/coerce.js';
import { ServiceError } from '../../../contracts/errors.js';
import { hasOptionHeaders } from '../../../contracts/schemas/option-sources.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';

export interface Refusal {
  readonly option: string;
  readonly why: string;
  /** Values that ask for nothing else than what is done anyway. */
  readonly passes?: readonly unknown[];
}

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

type Fields = Readonly<Record<string, unknown>>;

/** Errors: `unsupported_option` for the first option of the table that the fields ask for. */
export function refuseOptions(fields: Fields, refusals: readonly Refusal[]): void {
  const asked = refusals.find(
    ({ option, passes = [] }) => !isUnset(fields[option]) && !passes.includes(fields[option]),
  );
  if (asked) throw new ServiceError('unsupported_option', { message: asked.why, param: asked.option });
}

const unsupported = (message: string, param: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

/** Rule 6, what can be said of it before the body is read. Errors: `unsupported_option`. */
export function refuseOptionHeaders(
  headers: ReadonlyMap<string, string>,
  { headerPrefix }: Vocabulary,
): void {
  if (!hasOptionHeaders(headers, headerPrefix)) return;
  throw unsupported(`${headerPrefix}* headers are for synthesis only`, `${headerPrefix}*`);
}

/** Rule 6. `options` is what the client sent as `provider.options`. Errors: `unsupported_option`. */
export function refuseProviderOptions(options: unknown, { vendor }: Vocabulary): void {
  const own = (options as Fields | null | undefined)?.[vendor];
  if (isUnset(own)) return;
  const name = `provider.options.${vendor}`;
  throw unsupported(`${name} is for synthesis only`, name);
}
