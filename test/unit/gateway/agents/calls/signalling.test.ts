/** The socket of a call’s signalling. */
import t from '../../../../fixtures/tap.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { silentLog } from '../../../../../contracts/log.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { mediaDialect } from '../../../../../gateway/agents/calls/signalling.js';
import { exactly } from '../../../../fixtures/exactly.js';

t.test('a call has no cap of 3600 s on its sockets, and small frames (decisions 5, 9)', async (t) => {
  const { sockets = [] } = mediaDialect({
    joinTokens: {
      verify: () => Promise.resolve({ sessionId: 'sess_1', identity: 'user', use: 'join' }),
    } as never,
    runs: { join: () => Promise.resolve({ record: {} }) } as never,
    calls: { settled: () => Promise.resolve(), begin: () => undefined, hasRoom: true } as never,
    relay: { toBetter: () => Promise.resolve(undefined) } as never,
    ...{ nodeId: '', agents: {} as never, held: { holds: true }, clock: systemClock, log: silentLog },
  });
  t.same(sockets.map(({ path }) => path), ['/rtc/v1', '/rtc']); // oxfmt-ignore
  const request = { query: new URLSearchParams({ access_token: 'x' }), headers: new Map() } as never;
  for (const { upgrade } of sockets)
    exactly(t, await upgrade(request), { connectionMs: null, maxFrameBytes: LIMITS.socket.rtcFrameBytes });
});
