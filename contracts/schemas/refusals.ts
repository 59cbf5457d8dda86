/** Native options on transcription, which rule 6 refuses in every place. An option that is unset by rule 3 counts as not requested. */
import { isUnset } from './coerce.js';
import { ServiceError } from '../errors.js';
import type { Vocabulary } from '../vocabulary.js';
import { hasOptionHeaders } from './option-sources.js';
import type { PlainObject } from './plain-object.js';

const unsupported = (message: string, param: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

/** Rule 6, as far as it can be checked before the body is read. Errors: `unsupported_option`. */
export function refuseOptionHeaders(
  headers: ReadonlyMap<string, string>,
  { headerPrefix }: Vocabulary,
): void {
  if (!hasOptionHeaders(headers, headerPrefix)) return;
  throw unsupported(`${headerPrefix}* headers are for synthesis only`, `${headerPrefix}*`);
}

/** Rule 6. `options` is what the client sent as `provider.options`. Errors: `unsupported_option`. */
export function refuseProviderOptions(options: unknown, { vendor }: Vocabulary): void {
  const own = (options as PlainObject | null | undefined)?.[vendor];
  if (isUnset(own)) return;
  const name = `provider.options.${vendor}`;
  throw unsupported(`${name} is for synthesis only`, name);
}
