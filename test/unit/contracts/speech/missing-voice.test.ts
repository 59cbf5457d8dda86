/** A voice that does not exist. */
import t from '../../../fixtures/tap.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { missingVoice, toldMessage } from '../../../../contracts/speech/missing-voice.js';
import { exactly } from '../../../fixtures/exactly.js';

t.test('a voice that does not exist is named, with the list of those that do', async (t) => {
  const error = missingVoice('v'.repeat(65), 'voice');
  exactly(t, error, { code: 'voice_not_found', param: 'voice', message: `Reference not found: no voice "${'v'.repeat(64)}"` });
  t.equal(toldMessage(error, 'GET /voices'), `${error.message}; GET /voices lists the voices`);
  const { message, param } = missingVoice('v');
  t.strictSame([message, param], ['Reference not found: no voice "v"', undefined]);
  t.equal(toldMessage(new ServiceError('not_found'), 'GET /voices'), 'Not found');
}); // oxfmt-ignore
