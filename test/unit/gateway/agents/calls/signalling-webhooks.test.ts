/** Signed webhooks of a LiveKit server about its rooms (docs/contract/transport.md "Livekit mode"). */
import t from '../../../../fixtures/tap.js';
import type { EndedReason } from '../../../../../contracts/ports/sessions/sessions.js';
import { clusterDialect } from '../../../../../gateway/agents/calls/signalling.js';
import { startEdge } from '../../../../fixtures/edge/edge.js';
import { postEvent } from '../../../../fixtures/livekit/cluster.js';

const server = { key: 'a-key', secret: 'a-secret-of-at-least-32-characters' };
const session = (digit: string): string => `sess_${digit.repeat(24)}`;
const OVER = session('a');

class Sessions {
  readonly ended: [string, EndedReason][] = [];
  readonly removed: string[] = [];
  fails = false;

  readonly runs = {
    end: (id: string, reason: EndedReason) => {
      if (this.fails) return Promise.reject(new Error('no database'));
      this.ended.push([id, reason]);
      return Promise.resolve(true);
    },
    hasEnded: (id: string) => Promise.resolve(id === OVER),
  };

  readonly calls = {
    removeRoom: (id: string) => {
      this.removed.push(id);
      return Promise.resolve();
    },
  };
}

t.test('webhooks', async (t) => {
  const sessions = new Sessions();
  const lines: string[] = [];
  const note = (_: object, message: string): void => void lines.push(message);
  const log = { debug: note, info: note, warn: note, error: note };
  const dialect = clusterDialect({ server, ...sessions, log });
  const edge = await startEdge('node', [], { dialects: [dialect] });
  t.teardown(() => edge.close());
  const url = `${edge.base}/livekit/webhook`;
  const post = (event: object) => postEvent(url, event, server);

  await t.test('a room that is finished ends its session', async (t) => {
    const answer = await post({ event: 'room_finished', room: { sid: 'RM_1', name: session('1') } });
    t.equal(answer.status, 200);
    t.same(sessions.ended, [[session('1'), 'hangup']]);
  });

  await t.test('somebody who enters the room of an ended session is removed, and nobody else', async (t) => {
    const participant = { identity: 'user' };
    for (const name of [session('2'), OVER])
      t.equal((await post({ event: 'participant_joined', room: { name }, participant })).status, 200);
    t.same(sessions.removed, [OVER]);
  });

  await t.test('rooms of others, and other events, are left alone', async (t) => {
    sessions.ended.length = 0;
    for (const name of ['lobby', '', 'sess_\u0000', `${OVER}x`])
      t.equal((await post({ event: 'room_finished', room: { name } })).status, 200);
    t.equal((await post({ event: 'room_finished' })).status, 200);
    t.equal((await post({ event: 'constructor', room: { name: OVER } })).status, 200);
    t.equal((await post({ event: 'egress_ended', egressInfo: { egressId: 'EG_1' } })).status, 200);
    t.equal((await post({ event: 'room_started', room: { name: session('3') }, unknown: 1 })).status, 200);
    t.same(sessions.ended, []);
  });

  await t.test('nothing is believed that the key has not signed', async (t) => {
    const event = { event: 'room_finished', room: { name: session('4') } };
    const strange = await postEvent(url, event, { ...server, secret: 'another-secret-of-32-characters!!' });
    t.equal(strange.status, 401);
    t.same(await strange.json(), { status: 401, message: 'Invalid signature' });
    const unsigned = await fetch(url, { method: 'POST', body: JSON.stringify(event) });
    t.equal(unsigned.status, 401);
    t.same(await unsigned.json(), { status: 401, message: 'Missing signature' });
    const large = await post({ ...event, padding: 'x'.repeat(300_000) });
    t.equal(large.status, 413);
    t.same(sessions.ended, []);
  });

  await t.test('a failed webhook is answered as such, so that the server tries again', async (t) => {
    sessions.fails = true;
    const answer = await post({ event: 'room_finished', room: { name: session('5') } });
    t.equal(answer.status, 500);
    t.ok(lines.includes('an event of the LiveKit server had no effect'));
  });
});
