/** The record of a conversation while the database is unreachable (gateway/agents/conversations/record.ts). */
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { SessionItem } from '../../../../../contracts/ports/sessions/sessions.js';
import { RecordWriter } from '../../../../../gateway/agents/conversations/record.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { recordingLog } from '../../../../fixtures/processes/tools.js';

const AWAY = new ServiceError('storage_unavailable');

/** A writer of the items `first` and `second`, with a database that fails as the test says. */
function writing() {
  const [clock, log] = [new SimulatedClock(), recordingLog()];
  const database: { failure: Error | undefined; kept: unknown[]; asked: number } = {
    failure: undefined,
    kept: [],
    asked: 0,
  };
  const append = (items: readonly SessionItem[]): Promise<void> => {
    database.asked += 1;
    if (database.failure) return Promise.reject(database.failure);
    database.kept.push(...items);
    return Promise.resolve();
  };
  const record = new RecordWriter({ clock, log, append, keepTurn: () => Promise.resolve() });
  const add = (): void => ['first', 'second'].forEach((item) => record.add(item as unknown as SessionItem));
  /** Lets `seconds` pass; pending work runs in each. */
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 1) {
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      clock.advance(1000);
    }
  };
  const givenUp = (): number => log.lines.filter(({ level }) => level === 'error').length;
  return { record, database, add, pass, givenUp };
}

t.test('items wait for a database that is away, in order', async (t) => {
  const { record, database, add, pass, givenUp } = writing();
  database.failure = AWAY;
  add();
  await pass(120);
  t.strictSame(database.kept, []);
  database.failure = undefined;
  await pass(3);
  await record.written();
  t.strictSame(database.kept, ['first', 'second']);
  t.equal(givenUp(), 0);
});

t.test('after ten minutes they are given up, and one that comes then is tried thrice', async (t) => {
  const { record, database, add, pass, givenUp } = writing();
  database.failure = AWAY;
  add();
  await pass(630);
  await record.written();
  t.equal(givenUp(), 2);
  const { asked } = database;
  add();
  await pass(20);
  await record.written();
  t.equal(database.asked, asked + 6);
});

t.test('what the database refuses is tried thrice', async (t) => {
  const { record, database, add, pass, givenUp } = writing();
  database.failure = new Error('duplicate key');
  add();
  await pass(10);
  await record.written();
  t.equal(database.asked, 6);
  t.equal(givenUp(), 2);
});

t.test('a database that is away holds up no process that stops', async (t) => {
  const { record, database, add, pass, givenUp } = writing();
  database.failure = AWAY;
  add();
  await pass(30);
  record.hurry();
  await pass(3);
  await record.written();
  t.equal(givenUp(), 2);
});
