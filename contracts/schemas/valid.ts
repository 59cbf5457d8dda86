/** Turns validation problems into the client's error: the first problem's sentence and the field at fault. */
import { ServiceError } from '../errors.js';
import type { CheckResultOf } from './check.js';

/** `param` as the client spells it; empty for the whole body. */
export const invalid = (message: string, param: string): ServiceError =>
  new ServiceError('invalid_request', param === '' ? { message } : { message, param });

/** The value, if it is valid; `field`, if given, replaces the problem's location. Errors: `invalid_request`. */
export function valid<T>(checked: CheckResultOf<T>, field?: string): T {
  if (checked.ok) return checked.value;
  const [{ message, loc }] = checked.problems;
  throw invalid(message, field ?? loc.join('.'));
}
