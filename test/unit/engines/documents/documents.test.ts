/** The text of web pages and PDFs (engines/documents). */
import t from '../../../fixtures/tap.js';
import { systemClock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { ProcessReader } from '../../../../engines/documents/documents.js';
import { decoded, textOfHtml, TooDeep } from '../../../../engines/documents/html.js';
import { rejectsExactly, throwsExactly } from '../../../fixtures/exactly.js';
import { pdfOf, unfoldingPdf } from '../../../fixtures/knowledge/pdf.js';
import { until } from '../../../fixtures/until.js';

const PAGE = `<!doctype html><html><head><title>Bakery &amp; more</title><style>p { color: red }</style>
<script>alert("no")</script></head><body><nav><a href="/">Home</a></nav>
<h2>Opening   hours</h2><p>We open at <b>seven</b>.<br>On Sundays&nbsp;never.</p>
<ul><li>Bread<li>Rolls</ul><table><tr><th>Day<th>Hours<tr><td>Monday<td>7&ndash;18</table>
<template><p>hidden</p></template><svg><text>drawn</text></svg><p>Caf&eacute; <!-- not this --></body></html>`;

t.test('a web page: what is read in it, with headings, items and cells', async (t) => {
  t.equal(
    textOfHtml(PAGE),
    '# Bakery & more\nHome\n\n## Opening hours\nWe open at seven.\nOn Sundays never.\n- Bread\n- Rolls\n| Day | Hours\n| Monday | 7–18\nCafé',
  );
  t.equal(textOfHtml(''), '');
  t.equal(textOfHtml('</script></p>a<script>b'), 'a');
  t.equal(textOfHtml('<b>'.repeat(100_000) + 'deep'), 'deep');
});

t.test(
  'a page of elements that nothing closes: those of a line are no matter, of the others there is a limit',
  async (t) => {
    const { depth } = LIMITS.document;
    const inLine = '<b>'.repeat(1_000_000) + '</i>'.repeat(1_000_000);
    t.equal(textOfHtml(`${inLine}<p>One <b>paragraph<p>Another`), 'One paragraph\nAnother');
    t.equal(textOfHtml(`${'<div>'.repeat(depth)}deep`), 'deep');
    t.equal(textOfHtml('<li>'.repeat(10 * depth) + 'one after the other'), '- one after the other');
    t.equal(textOfHtml(`${'<form>'.repeat(10 * depth)}one form`), 'one form');
    throwsExactly(t, () => textOfHtml(`${'<div>'.repeat(depth + 1)}deep`), new TooDeep());
  },
);

t.test('a page is read as it says that it is written', async (t) => {
  const latin = Buffer.from('<meta charset="iso-8859-1"><p>Caf\u00e9', 'latin1');
  t.match(decoded(latin), /Café/);
  t.match(decoded(Buffer.from('<p>Café')), /Café/);
  t.match(decoded(Buffer.from('\ufeff<p>Café', 'utf16le')), /Café/);
  t.equal(decoded(Buffer.from('<p>Caf\u00e9', 'latin1')), undefined);
  t.equal(decoded(Buffer.from('<meta charset="klingon"><p>x')), undefined);
});

const reader = new ProcessReader(systemClock);
t.teardown(() => reader.stop());
const read = (bytes: Uint8Array, kind: 'pdf' | 'html' = 'pdf') => reader.textOf(kind, bytes, 'ws_1');
const line = (text: string) => ({ text });

t.test('a PDF: all pages, with larger lines as headings and parted words whole', async (t) => {
  const bytes = pdfOf([
    [
      { text: 'Opening hours', isHeading: true },
      line('We open at seven. On Sun-'),
      line('days we are (always) closed.'),
    ],
    [{ text: 'Parking', isHeading: true }, line('Behind the house.')],
  ]);
  t.equal(
    await read(bytes),
    '## Opening hours\nWe open at seven. On Sundays we are (always) closed.\n\n## Parking\nBehind the house.',
  );
  t.equal(await read(Buffer.from(PAGE), 'html'), textOfHtml(PAGE));
});

t.test('what cannot be read is refused in words, and the next one is read', async (t) => {
  const { pages } = LIMITS.document;
  const whole = pdfOf([[line('Hello')]]);
  const many = pdfOf(Array.from({ length: pages + 1 }, () => [line('x')]));
  const cases: [bytes: Uint8Array, message: RegExp, kind?: 'html'][] = [
    [Buffer.from('%PDF-1.7 and nothing else'), /^source is a PDF that cannot be read$/],
    [Buffer.from('Hello'), /^source is no PDF$/],
    [pdfOf([[line('Secret')]], true), /^source is protected by a password$/],
    [many, new RegExp(`^source has ${pages + 1} pages: at most ${pages} are read$`)],
    [pdfOf([[]]), /^source has no text: what was scanned has to be recognised first/],
    [Buffer.from('<script>x</script>'), /^source has no text/, 'html'],
    [Buffer.from([0xc3, 0x28]), /^source is not written in UTF-8/, 'html'],
    [
      Buffer.from('<div>'.repeat(LIMITS.document.depth + 1)),
      /^source has more than 512 elements that nothing has closed$/,
      'html',
    ],
    [
      Buffer.from('x'.repeat(LIMITS.document.textBytes + 1)),
      /^source has more than 1 MB of text: divide it$/,
      'html',
    ],
  ];
  for (const [bytes, message, kind] of cases)
    await rejectsExactly(t, read(bytes, kind), { code: 'validation_failed', message });
  t.equal(await read(whole), 'Hello');
});

t.test('a document that takes too long ends its process alone', async (t) => {
  let expire: (() => void) | undefined;
  const after = (ms: number, work: () => void) => {
    if (ms === LIMITS.document.timeMs) expire = work;
    return () => undefined;
  };
  const slow = new ProcessReader({ ...systemClock, after });
  t.teardown(() => slow.stop());
  const reading = slow.textOf('html', Buffer.from('<b>'.repeat(400_000) + '</i>'.repeat(400_000)), 'ws_1');
  const refused = rejectsExactly(t, reading, {
    code: 'validation_failed',
    message: /takes longer than 30 s/,
  });
  await until('it is read', () => expire);
  expire?.();
  await refused;
  t.equal(await slow.textOf('html', Buffer.from('<p>Hello'), 'ws_1'), 'Hello');
});

t.test('documents take turns, and too many are told to come again', async (t) => {
  const { queue } = LIMITS.document;
  const all = Array.from({ length: queue + 5 }, () =>
    read(Buffer.from('<p>Hello'), 'html').catch(({ code }) => code),
  );
  const answers = await Promise.all(all);
  t.strictSame([...new Set(answers)].sort(), ['Hello', 'overloaded']);
  t.equal(answers.filter((answer) => answer === 'Hello').length, queue + 1);
});

t.test('a small file that unfolds to gigabytes ends its process alone', async (t) => {
  const bytes = unfoldingPdf(4096);
  t.ok(bytes.length < LIMITS.document.bytes);
  await rejectsExactly(t, read(bytes), { code: 'validation_failed', message: /more memory than there is/ });
  t.equal(await read(Buffer.from('<p>Hello'), 'html'), 'Hello');
});
