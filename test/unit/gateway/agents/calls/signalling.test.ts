/** The socket of a call’s signalling. */
import t from '../../../../fixtures/tap.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { silentLog } from '../../../../../contracts/log.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { HttpRequest } from '../../../../../gateway/server/port.js';
import { mediaDialect } from '../../../../../gateway/agents/calls/signalling.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { standIn } from '../../../../fixtures/stand-in.js';

t.test('a call has no cap of 3600 s on its sockets, and small frames (decisions 5, 9)', async (t) => {
  const { sockets = [] } = mediaDialect({
    joinTokens: standIn({
      verify: () => Promise.resolve(standIn({ sessionId: 'sess_1', identity: 'user', use: 'join' })),
    }),
    runs: standIn({ join: () => Promise.resolve(standIn({ record: standIn({}) })) }),
    calls: standIn({ settled: () => Promise.resolve(), begin: () => undefined, hasRoom: true }),
    relay: standIn({ toBetter: () => Promise.resolve(undefined) }),
    ...{ nodeId: '', agents: standIn({}), held: { holds: true }, clock: systemClock, log: silentLog },
  });
  t.same(sockets.map(({ path }) => path), ['/rtc/v1', '/rtc']); // oxfmt-ignore
  const request = standIn<HttpRequest>({
    query: new URLSearchParams({ access_token: 'x' }),
    headers: new Map(),
  });
  for (const { upgrade } of sockets)
    exactly(t, await upgrade(request), { connectionMs: null, maxFrameBytes: LIMITS.socket.rtcFrameBytes });
});
