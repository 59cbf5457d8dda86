/** Effects of signals on a gateway, by the times at which they arrive (docs/operating.md "Shutdown"). */
import t from '../../../fixtures/tap.js';
import { Signals } from '../../../../gateway/wiring/shutdown.js';

type Signal = 'SIGTERM' | 'SIGINT' | 'npm has gone';

/** Signals, each with the second at which it arrives, and their effects. */
const ROWS: readonly [sent: readonly [Signal, number][], told: readonly string[]][] = [
  [[['SIGTERM', 0]], ['leave']],
  [
    [
      ['SIGTERM', 0],
      ['SIGTERM', 1],
    ],
    ['leave'],
  ],
  [
    [
      ['SIGTERM', 0],
      ['SIGTERM', 60],
    ],
    ['leave', 'hurry'],
  ],
  [
    [
      ['SIGTERM', 0],
      ['SIGTERM', 60],
      ['SIGTERM', 63],
    ],
    ['leave', 'hurry', 'hurry'],
  ],
  [
    [
      ['SIGTERM', 0],
      ['SIGINT', 60],
    ],
    ['leave', 'hurry'],
  ],
  [
    [
      ['SIGTERM', 0],
      ['SIGINT', 60],
      ['SIGINT', 63],
    ],
    ['leave', 'hurry', 'exit'],
  ],
  [[['SIGINT', 0]], ['leave', 'hurry']],
  [
    [
      ['SIGINT', 0],
      ['SIGINT', 0.1],
    ],
    ['leave', 'hurry'],
  ],
  [
    [
      ['SIGINT', 0],
      ['SIGINT', 2.5],
    ],
    ['leave', 'hurry', 'exit'],
  ],
  [
    [
      ['SIGINT', 0],
      ['SIGTERM', 2.5],
    ],
    ['leave', 'hurry', 'hurry'],
  ],
  [[['npm has gone', 0]], ['leave']],
  [
    [
      ['SIGTERM', 0],
      ['npm has gone', 60],
    ],
    ['leave'],
  ],
];

for (const [sent, expected] of ROWS) {
  const name = sent.map(([signal, seconds]) => `${signal} at ${seconds} s`).join(', ');
  t.test(`shutdown: ${name}: ${expected.join(', ')}`, (t) => {
    const told: string[] = [];
    let seconds = 0;
    const signals = new Signals({
      leave: () => told.push('leave'),
      hurry: () => told.push('hurry'),
      exit: () => told.push('exit'),
      monotonic: () => seconds * 1000,
    });
    for (const [signal, at] of sent) {
      seconds = at;
      if (signal === 'npm has gone') signals.leave();
      else signals.received(signal);
    }
    t.strictSame(told, expected);
    t.end();
  });
}
