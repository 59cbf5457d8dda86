/** Rule 3 and decision 1: values that count as unset, and values that count as booleans. Base64 from outside. */
import t from '../../../fixtures/tap.js';
import {
  decodeBase64,
  decodedLength,
  paddingOf,
  withoutWhiteSpace,
} from '../../../../contracts/text/base64.js';
import { booleanOf, isUnset } from '../../../../contracts/schemas/coerce.js';

t.test('decision 1: what is unset', async (t) => {
  const words = ['', ' ', 'false', 'False', 'FALSE', '0', 'none', 'None', 'off', 'null', '[]', '{}', ' off '];
  const values = [undefined, null, false, 0, [], {}, [null], ['', false], [[]]];
  for (const value of [...words, ...values]) {
    t.equal(isUnset(value), true, JSON.stringify(value));
    t.equal(booleanOf(value), false, JSON.stringify(value));
  }
});

t.test('every other value counts as set', async (t) => {
  const values = ['x', 'no', '00', true, 1, -1, 0.5, 'true', ['x'], [0, 1], { a: null }, new Uint8Array(0)];
  for (const value of values) t.equal(isUnset(value), false, JSON.stringify(value));
});

t.test('rule 3: only true is true, what is neither is no boolean', async (t) => {
  for (const value of [true, 1, 'true', 'True', '1', 'on', 'yes'])
    t.equal(booleanOf(value), true, String(value));
  for (const value of ['perhaps', 2, 'no', ['x'], { a: 1 }])
    t.equal(booleanOf(value), undefined, String(value));
});

t.test('base64: with and without padding and data URI, URL-safe too', async (t) => {
  for (const length of [0, 1, 2, 3, 100, 1001]) {
    const bytes = Buffer.alloc(length, 0xfb);
    const text = bytes.toString('base64');
    for (const given of [
      text,
      text.replace(/=+$/, ''),
      bytes.toString('base64url'),
      `data:audio/wav;base64,${text}`,
      `\n${text.replace(/.{76}/g, '$&\r\n')}\n`,
      ` data:audio/wav;base64,${text.replace(/.{60}/g, '$&\n')}\n`,
    ]) {
      t.strictSame(Buffer.from(decodeBase64(given) ?? 'none'), bytes, given.slice(0, 40));
    }
    t.equal(decodedLength(text.replace(/=+$/, '').length), length);
  }
  for (const bad of ['!', 'QUJD!', 'QU JDR', 'data:audio/wav,QUJD', 'QQ==QUJD', 'ünïcode', 'QUJDR', 'xdata:;base64,QUJD', 'QUJD\u0120QUJD', 'QUJD\u000bQUJD', 'Q U J D R', 'QUJ%D\n', '%'.repeat(1e6), `${'QUJD'.repeat(1e6)}%`]) {
    t.equal(decodeBase64(bad), undefined, bad.slice(0, 40));
  }
  t.equal(decodedLength(5), undefined, 'one character over holds six bits');
}); // oxfmt-ignore

t.test('base64: the head of a data URI is 128 characters at most, in any case', async (t) => {
  const head = (length: number) => `data:audio/wav;x=${'y'.repeat(length - 12)};base64,QUJD`;
  for (const text of ['data:;base64,QUJD', 'DATA:Audio/WAV;BASE64,QUJD', head(128)])
    t.strictSame(decodeBase64(text), Buffer.from('ABC'), text);
  t.equal(decodeBase64(head(129)), undefined);
});

t.test('base64: line breaks of encoders for mail go, padding is told', async (t) => {
  t.equal(withoutWhiteSpace('\tQU\r\n\r\nJD \n'), 'QUJD');
  t.strictSame(['QUJD', 'QUI=', 'QQ==', ''].map(paddingOf), [0, 1, 2, 0]);
});
