/** Telephone calls of a process that leaves (gateway/agents/phone/phone-calls.ts). */
import { setImmediate } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import type { PhoneLink } from '../../../../../contracts/ports/calls/calls.js';
import { PhoneCalls, type PhoneCallsParts } from '../../../../../gateway/agents/phone/phone-calls.js';
import type { Leg } from '../../../../../gateway/agents/phone/streamed-call.js';

/** A process with room, and no other one. `begins`: what comes of a stream for a session that nobody may join. */
function telephone() {
  const calls = new PhoneCalls({
    runs: { onEnded: () => () => undefined, join: async () => ({ refused: 'expired' }) },
    held: { holds: true, onChange: () => () => undefined },
    transferring: { parts: { transfers: { find: async () => undefined } } },
    hasRoom: () => true,
    elsewhere: () => false,
  } as unknown as PhoneCallsParts);
  const begins = (): Promise<string> =>
    calls.begin('sess_1', { codec: 'mulaw', rate: 8000 }, {} as PhoneLink, {} as Leg).then(
      () => 'began',
      ({ code }: { code: string }) => code,
    );
  return { calls, begins };
}

t.test('callers are answered until the goodbye is over', async (t) => {
  const { calls, begins } = telephone();
  let refuse = (): void => undefined;
  const refuses = new Promise<void>((resolve) => (refuse = resolve));
  const stopped = calls.stop(new Promise(() => undefined), refuses);
  await setImmediate();
  t.ok(calls.hasRoomSomewhere, 'the balancer still sends some here');
  t.equal(await begins(), 'invalid_key', 'a stream is let in, and its token refused');
  refuse();
  await stopped;
  t.notOk(calls.hasRoomSomewhere);
  t.equal(await begins(), 'overloaded');
});

t.test('a process that is out of time answers nobody, goodbye or not', async (t) => {
  const { calls } = telephone();
  void calls.stop(Promise.resolve(), new Promise(() => undefined));
  await setImmediate();
  t.notOk(calls.hasRoomSomewhere);
});
