/** Word error rates of transcripts, and the form that uploads a recording. */
import t from 'tap';
import { formOf, wordErrorRate } from '../src/clients/transcription.js';

t.test('a word error rate counts words that are changed, missing or too many', async (t) => {
  const spoken = 'Please call us back before six.';
  t.equal(wordErrorRate(spoken, 'please call us back, before SIX'), 0);
  t.equal(wordErrorRate(spoken, 'please call us back before seven'), 1 / 6);
  t.equal(wordErrorRate(spoken, 'call us back before six'), 1 / 6);
  t.equal(wordErrorRate(spoken, 'please do call us back before six'), 1 / 6);
  t.equal(wordErrorRate(spoken, ''), 1);
  t.equal(wordErrorRate('', ''), 0);
  t.equal(wordErrorRate('', 'thank you'), 2, 'words that nobody said');
});

t.test('a recording is uploaded as a file in a form, with what else is asked', async (t) => {
  const audio = Buffer.from('RIFF and more');
  const form = formOf({ field: 'file', fields: { model: 'whisper-1' }, audio }).toString('latin1');
  t.match(form, /name="model"\r\n\r\nwhisper-1\r\n/);
  t.match(form, /name="file"; filename="a.wav"\r\nContent-Type: audio\/wav\r\n\r\nRIFF and more\r\n--/);
});
