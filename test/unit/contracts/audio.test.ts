/** Samples of bytes. */
import t from '../../fixtures/tap.js';
import { bytesOf, joinSamples, samplesOf } from '../../../contracts/audio.js';

t.test('samples of bytes at an odd place, and of an odd number', async (t) => {
  const bytes = Uint8Array.of(9, 1, 0, 2, 0, 7);
  t.strictSame([...samplesOf(bytes.subarray(1))], [1, 2], 'copied, without the last byte');
  t.strictSame([...samplesOf(Buffer.from(bytes.buffer, 1))], [1, 2], 'of a buffer of Node, too');
  const even = samplesOf(bytes.subarray(2, 4));
  t.strictSame([...even], [512]);
  t.equal(even.buffer, bytes.buffer, 'in place');
  t.equal(samplesOf(bytes).buffer, bytes.buffer);
  const joined = joinSamples([Int16Array.of(1, 2), new Int16Array(0), Int16Array.of(3)]);
  t.strictSame([...joined], [1, 2, 3]);
  t.strictSame([...bytesOf(joined.subarray(1))], [2, 0, 3, 0]);
});
