/** The reports of a call on their way to the gateway (media/served-call.ts): few messages, nothing late. */
import t from '../../fixtures/tap.js';
import { AsyncQueue } from '../../../media/async-queue.js';
import {
  type Carrier,
  type CallHost,
  serve,
  ServedCall,
  type ServedParts,
} from '../../../media/served-call.js';
import type { Pacer } from '../../../media/pacer.js';
import type { CallArgs } from '../../../media/wire.js';
import { standIn } from '../../fixtures/stand-in.js';

type Own = { readonly on: 'frame'; readonly number: number };

function begun() {
  let host: CallHost<Own> | undefined;
  const parts = standIn<ServedParts>({
    pacer: standIn<Pacer>({ join: () => () => undefined }),
    detector: () => ({ push: () => false }),
  });
  const call = new ServedCall<{ op: string }, Own>(standIn<CallArgs>({}), parts, (made) => {
    host = made;
    return standIn<Carrier<{ op: string }>>({ close: () => undefined });
  });
  const commands = new AsyncQueue();
  const messages = serve(call, commands, { signal: new AbortController().signal });
  const report = (...numbers: number[]): void => {
    for (const number of numbers) host!.report({ on: 'frame', number });
  };
  return { call, commands, messages, report };
}

const frame = (number: number): Own => ({ on: 'frame', number });

t.test('all reports of a beat are one message, and one alone does not wait for others', async (t) => {
  const { messages, report } = begun();
  const waiting = messages.next();
  report(1, 2, 3);
  t.strictSame((await waiting).value, [frame(1), frame(2), frame(3)]);
  const next = messages.next();
  report(4);
  t.strictSame((await next).value, [frame(4)]);
  await messages.return(undefined);
});

t.test('what came while a message was sent is the next one, to the last report', async (t) => {
  const { call, commands, messages, report } = begun();
  report(1);
  t.strictSame((await messages.next()).value, [frame(1)]);
  report(2, 3);
  call.close();
  commands.end();
  const frames = { on: 'frames', sent: 0, late: 0, lost: 0 } as const;
  t.strictSame((await messages.next()).value, [frame(2), frame(3), frames]);
  t.equal((await messages.next()).done, true);
});
