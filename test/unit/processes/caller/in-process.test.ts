/** Jobs that run in the process of their caller. */
import t from '../../../fixtures/tap.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { inProcess } from '../../../fixtures/in-process.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { collect, never } from '../../../fixtures/processes/tools.js';

t.test('in process', async (t) => {
  const state = { cleaned: 0, inputLeft: 0, aborted: 0 };
  const endless = async function* (): AsyncGenerator<number, void> {
    try {
      for (let value = 0; ; value += 1) yield value;
    } finally {
      state.inputLeft += 1;
    }
  };
  const runner = inProcess({
    async *echo(_args: unknown, input) {
      try {
        yield* input;
      } finally {
        state.cleaned += 1;
      }
    },
    async *hang(_args: unknown, _input, { signal }) {
      yield 'up';
      await new Promise((_, reject) =>
        signal.addEventListener('abort', () => {
          state.aborted += 1;
          reject(signal.reason as Error);
        }),
      );
    },
    // oxlint-disable-next-line require-yield
    async *fail() {
      throw new Error('secret');
    },
    // oxlint-disable-next-line require-yield
    async *refuse() {
      throw new ServiceError('voice_not_found');
    },
  });
  const of = async function* (...values: unknown[]): AsyncGenerator<unknown, void> {
    yield* values;
  };

  t.same(await collect(runner.runJob('echo', {}, { input: of(1, 2), signal: never() })), [1, 2]);
  t.same(await collect(runner.runJob('echo', {}, { signal: never() })), [], 'no input is an empty one');
  await rejectsExactly(t, collect(runner.runJob('fail', {}, { signal: never() })), {
    code: 'engine_failed',
    message: 'The speech engine failed',
  });
  await rejectsExactly(t, collect(runner.runJob('refuse', {}, { signal: never() })), {
    code: 'voice_not_found',
  });
  await rejectsExactly(t, collect(runner.runJob('toString', {}, { signal: never() })), {
    code: 'engine_failed',
  });

  for await (const value of runner.runJob('echo', {}, { input: endless(), signal: never() })) {
    if (value === 3) break;
  }
  await new Promise(setImmediate);
  t.same([state.cleaned, state.inputLeft], [3, 1], 'leaving the loop ends the handler and leaves its input');

  const caller = new AbortController();
  const reader = runner.runJob('hang', {}, { signal: caller.signal })[Symbol.asyncIterator]();
  t.equal((await reader.next()).value, 'up');
  const waiting = reader.next();
  caller.abort(new Error('gone'));
  await t.rejects(waiting, /gone/);
  t.equal((await reader.next()).done, true);
  t.equal(state.aborted, 1);

  await t.rejects(
    collect(runner.runJob('hang', {}, { signal: AbortSignal.abort(new Error('before')) })),
    /before/,
  );
  const unknown = runner.runJob('no such job', {}, { signal: never() })[Symbol.asyncIterator]();
  await rejectsExactly(t, unknown.next(), { code: 'engine_failed' });
  t.equal((await unknown.next()).done, true, 'an error is told once');

  const broken = async function* (): AsyncGenerator<unknown, void> {
    yield 1;
    throw new Error('the caller’s own');
  };
  await t.rejects(
    collect(runner.runJob('echo', {}, { input: broken(), signal: never() })),
    /the caller’s own/,
  );
});
