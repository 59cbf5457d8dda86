/** Filters of lists of sessions. */
import t from '../../../../../fixtures/tap.js';
import { filterOf } from '../../../../../../gateway/dialects/platform/sessions/filter.js';
import { throwsExactly } from '../../../../../fixtures/exactly.js';
import { standIn } from '../../../../../fixtures/stand-in.js';

t.test('moments of a filter', async (t) => {
  const at = (text: string) =>
    filterOf(new URLSearchParams({ created_after: text })).createdAfter?.toISOString();
  const fine: [string, string][] = [
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05-02:00', '2026-01-02T05:04:05.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, moment] of fine) t.equal(at(text), moment, text);
  for (const text of ['', 'now', '1735689600', '2026-13-01', '2026-01-32', '2026-01-02T25:00:00Z', '26-01-02', '2026-01-02T', '+002026-01-02', '2026-02-29', '2026-04-31T00:00:00Z', '0000-01-01', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])
    throwsExactly(t, () => at(text), standIn({ code: 'invalid_request' }), text); // oxfmt-ignore
});
