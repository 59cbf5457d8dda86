/** Errors on their way between processes. */
import t from '../../fixtures/tap.js';
import { ServiceError } from '../../../contracts/errors.js';
import { errorFromWire, errorToWire } from '../../../processes/errors.js';
import { exactly } from '../../fixtures/exactly.js';

t.test('errors cross with all their fields, and malformed ones are engine_failed', (t) => {
  const sent = new ServiceError('engine_busy', {
    message: 'full',
    param: 'p',
    retryAfter: 3,
    cause: 'hidden',
  });
  const wire = errorToWire(sent);
  t.notMatch(JSON.stringify(wire), /hidden/);
  exactly(t, errorFromWire(wire), {
    code: 'engine_busy',
    message: 'full',
    param: 'p',
    retryAfter: 3,
    status: 503,
  });
  for (const wrong of [null, 7, {}, { code: 'toString' }, { code: 5 }]) {
    t.equal(errorFromWire(wrong).code, 'engine_failed');
  }
  t.end();
});
