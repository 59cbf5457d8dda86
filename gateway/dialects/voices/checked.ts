/** Validation against a schema, with the first problem as the error. Null members count as absent. */
import { ServiceError } from '../../../contracts/errors.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import type { Static, TSchema } from '../../../contracts/schemas/type.js';

/** Errors of the result: `invalid_request`. */
export function checked<S extends TSchema>(schema: S): (value: unknown) => Static<S> {
  const check = checker(schema);
  return (value) => {
    const outcome = check(withoutNulls(value));
    if (outcome.ok) return outcome.value;
    const [{ message, loc }] = outcome.problems;
    throw new ServiceError('invalid_request', { message, param: loc.join('.') });
  };
}
