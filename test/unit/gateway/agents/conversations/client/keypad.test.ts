/** Keys that a caller presses, and those that a client sends. */
import t from '../../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { keyed, readClientEvent } from '../../../../../../gateway/agents/conversations/client/events.js';
import { Keypad } from '../../../../../../gateway/agents/conversations/client/keypad.js';
import { SimulatedClock } from '../../../../../fixtures/clock.js';

t.test('keys are reported together after #, after a pause, or when they are many', (t) => {
  const clock = new SimulatedClock();
  const told: string[] = [];
  const keypad = new Keypad(clock, (keys) => told.push(keys));
  const press = (keys: string): void => [...keys].forEach((key) => keypad.press(key));
  press('12#');
  t.same(told.splice(0), ['12']);
  press('3');
  clock.advance(LIMITS.phone.keysMs - 1);
  press('4*');
  clock.advance(LIMITS.phone.keysMs - 1);
  t.same(told, []);
  clock.advance(1);
  t.same(told.splice(0), ['34*'], '2 s after the last one');
  press('##');
  t.same(told.splice(0), ['#', '#'], '# by itself is told as well');
  press('1'.repeat(33));
  clock.advance(LIMITS.phone.keysMs);
  t.same(told.splice(0), ['1'.repeat(32), '1']);
  keypad.press('x');
  keypad.press('12');
  press('5');
  keypad.close();
  clock.advance(60_000);
  t.same(told, [], 'no keys, and those of a call that is over');
  t.end();
});

t.test('keys that are not reported yet show that the caller is there, well within ten seconds', (t) => {
  const clock = new SimulatedClock();
  const signs: number[] = [];
  const keypad = new Keypad(
    clock,
    () => undefined,
    () => signs.push(clock.now()),
  );
  const since = clock.now();
  for (let key = 0; key < 32; key += 1) {
    keypad.press('1');
    clock.advance(LIMITS.phone.keysMs - 1);
  }
  t.same(signs[0], since, 'with the first key');
  t.ok(signs.every((at, nth) => nth === 0 || at - (signs[nth - 1] ?? 0) < 10_000));
  t.ok(signs.length < LIMITS.session.clientMessages.burst, 'not as many as would exhaust the rate');
  keypad.press('#');
  t.equal(signs.length, 8, 'what is reported at once needs no sign');
  t.end();
});

t.test('user.dtmf takes 1 to 32 keys', (t) => {
  const read = (digits: unknown) =>
    readClientEvent(Buffer.from(JSON.stringify({ type: 'user.dtmf', digits })));
  t.same(read('12#'), { type: 'user.dtmf', digits: '12#' });
  for (const bad of ['', '1'.repeat(33), 'x', 12, null, ['1']]) t.equal(read(bad), undefined, String(bad));
  t.equal(keyed('12#'), '[keypad: 12#]');
  t.end();
});
