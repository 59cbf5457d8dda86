/** Answers of other servers as text. */
import t from '../../../fixtures/tap.js';
import { replyText } from '../../../../contracts/outbound/reply-text.js';

t.test('an answer is read in the charset that it names, else as UTF-8', async (t) => {
  const latin = Buffer.from([0x67, 0xfc]);
  const cases: [string | undefined, Buffer, string][] = [
    ['text/plain; charset=iso-8859-1', latin, 'gü'],
    ['text/plain;charset=iso-8859-1', latin, 'gü'],
    ['', Buffer.from('gü'), 'gü'],
    ['text/plain;a=b ; Charset = "iso-8859-1";x', latin, 'gü'],
    ['text/plain', Buffer.from('gü'), 'gü'],
    ['text/plain; charset=klingon', Buffer.from('gü'), 'gü'],
    [undefined, Buffer.from('gü'), 'gü'],
  ];
  const read = (type: string | undefined, body: Buffer, truncated = false) =>
    replyText({ headers: type === undefined ? {} : { 'content-type': type }, body, truncated });
  for (const [type, body, text] of cases) t.equal(read(type, body), text, type ?? 'no type');
  const half = Buffer.from('gü').subarray(0, 2);
  t.equal(read(undefined, half, true), 'g', 'what was cut off is left out');
  t.equal(read(undefined, half), 'g\ufffd', 'what is broken is not');
});
