/**
 * Options that a protocol names and this service does not have (docs/contract/compatibility.md "Refused options", rule 6): each protocol's
 * table is data, the common code is here. An option that is unset by rule 3 counts as not requested.
 */
import { isUnset } from './coerce.js';
import { ServiceError } from '../errors.js';
import type { Vocabulary } from '../vocabulary.js';
import { hasOptionHeaders } from './option-sources.js';
import type { PlainObject } from './plain-object.js';

export interface Refusal {
  readonly option: string;
  readonly why: string;
  /** Values that request only what happens anyway. */
  readonly passes?: readonly unknown[];
}

const unsupported = (message: string, param: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

/** Errors: `unsupported_option` for the first option of the table that the fields request. */
export function refuseOptions(fields: PlainObject, refusals: readonly Refusal[]): void {
  const asked = refusals.find(
    ({ option, passes = [] }) => !isUnset(fields[option]) && !passes.includes(fields[option]),
  );
  if (asked) throw unsupported(asked.why, asked.option);
}

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
