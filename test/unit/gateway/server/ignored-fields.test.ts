/** The warning about ignored fields contains a few field names, only plausible ones, and nothing else. */
import t from '../../../fixtures/tap.js';
import { IgnoredOnce, unknownFields, warnOfIgnored } from '../../../../gateway/server/ignored-fields.js';
import { silentLog } from '../../../../contracts/log.js';
import { exactly } from '../../../fixtures/exactly.js';

const warned = (fields: readonly string[]): object[] => {
  const lines: object[] = [];
  warnOfIgnored(fields, 'gen-1', { ...silentLog, warn: (details: object) => void lines.push(details) });
  return lines;
};

t.test('unknown is what says something and has no place', async (t) => {
  const known = { text: {}, format: {} };
  t.strictSame(unknownFields({ text: 'a', formt: 'mp3', voice: null, toString: 1 }, known), [
    'formt',
    'toString',
  ]);
  for (const nothing of [undefined, null, 'text', 7, []]) t.strictSame(unknownFields(nothing, known), []);
});

t.test('a warning is bounded, and repeats no text that a client sends as a name', async (t) => {
  t.strictSame(warned([]), []);
  t.strictSame(warned(['formt']), [{ generationId: 'gen-1', fields: ['formt'], count: 1 }]);
  const strange = ['what the caller said', 'a'.repeat(65), '', 'ok-name', '9'];
  exactly(t, warned(strange), [{ fields: ['?', '?', '?', 'ok-name', '?'], count: 5 }]);
  const many = Array.from({ length: 1000 }, (_, index) => `f${index}`);
  exactly(t, warned(many), [{ fields: many.slice(0, 8), count: 1000 }]);
  t.equal((warned(many)[0] as { fields: string[] }).fields.length, 8);
});

t.test('on a socket each name is told once, and so many in all', async (t) => {
  const ignored = new IgnoredOnce();
  t.strictSame(ignored.fresh(['formt', 'formt', 'what the caller said', 'and again']), ['formt', '?']);
  t.strictSame(ignored.fresh(['formt', 'voice', 'said']), ['voice', 'said']);
  t.strictSame(ignored.fresh([]), []);
  const many = Array.from({ length: 1000 }, (_, index) => `f${index}`);
  t.strictSame(ignored.fresh(many), many.slice(0, 28));
  t.strictSame(ignored.fresh(['another']), []);
});
