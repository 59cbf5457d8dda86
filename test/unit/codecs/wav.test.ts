/** The header of WAV files. */
import t from '../../fixtures/tap.js';
import { wavHeader } from '../../../codecs/wav.js';

t.test('rule 11: the WAV header is 44 bytes with placeholder sizes', (t) => {
  const header = Buffer.from(wavHeader(24_000));
  t.equal(header.length, 44);
  t.equal(
    header.toString('hex'),
    '52494646' +
      '24ffffff' +
      '57415645' +
      '666d7420' +
      '10000000' +
      '0100' +
      '0100' +
      'c05d0000' +
      '80bb0000' +
      '0200' +
      '1000' +
      '64617461' +
      '00ffffff',
  );
  t.equal(header.readUInt32LE(4), 4294967076);
  t.equal(header.readUInt32LE(40), 4294967040);
  t.end();
});
