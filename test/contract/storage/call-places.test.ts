/** Statements that begin something only if a call is left judge as `mayCall` does. */
import t from '../../fixtures/tap.js';
import { type CallFigures, mayCall } from '../../../contracts/admission/call-places.js';
import { mayCallBy } from '../../../storage/sessions/call-places.js';
import { startPostgres } from '../../fixtures/database/postgres.js';

const { sql } = await (await startPostgres(t)).open();

const FIGURES: readonly CallFigures[] = [0, 1, 2, 3, 7, 20].flatMap((own) =>
  [null, 0, 3, 1000].flatMap((most) =>
    [null, -2, 0, 1, 4, 10].flatMap((free) => [true, false].map((shared) => ({ own, most, free, shared }))),
  ),
);

t.test('whether a workspace may have another call is the same question in SQL', async (t) => {
  const rows = await sql<{ allowed: boolean }[]>`
    select ${mayCallBy(sql)} as allowed from (
      select place, (value ->> 'own')::int as own, (value ->> 'most')::float8 as most,
        (value ->> 'free')::float8 as free, (value ->> 'shared')::boolean as shared
      from jsonb_array_elements(${sql.json(FIGURES as never)}) with ordinality as e (value, place)) as f order by place`;
  t.strictSame(
    rows.map(({ allowed }) => allowed),
    FIGURES.map((figures) => mayCall(figures)),
  );
  t.equal(rows.length, 288);
});
