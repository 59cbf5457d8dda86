/**
 * Livekit mode on a real LiveKit server, with its own client as the user: behaviour that the double of rooms.test.ts
 * cannot show. Runs if `livekit-server` is on the PATH (docs/contract/transport.md "Livekit mode").
 */
import { dispose } from '@livekit/rtc-node';
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import { clusterDialect } from '../../../gateway/agents/calls/signalling.js';
import { startEdge } from '../../fixtures/edge/edge.js';
import { loudMs, pitchOf, toneOf } from '../../fixtures/media/tones.js';
import { type FollowedCall, openRoom, roomWorkers } from '../../fixtures/livekit/rooms.js';
import { RealUser, startServer, withoutServer } from '../../fixtures/livekit/server.js';
import { until } from '../../fixtures/until.js';

/** A user who has not been heard for so long speaks again. */
const AGAIN_MS = 5000;

const heardBy = ({ events }: FollowedCall): Int16Array =>
  Int16Array.from(events.flatMap((event) => (event.kind === 'audio' ? [...event.samples] : [])));

t.test('on a real server', { skip: withoutServer }, async (t) => {
  const ended: string[] = [];
  const key = { key: 'test-livekit-key', secret: 'test-livekit-secret-of-32-characters' };
  const runs = {
    end: (id: string) => Promise.resolve(ended.push(id) > 0),
    hasEnded: () => Promise.resolve(false),
  };
  const calls = { removeRoom: () => Promise.resolve() };
  const dialect = clusterDialect({ server: key, runs, calls, log: silentLog });
  const edge = await startEdge('node', [], { dialects: [dialect] });
  t.teardown(() => edge.close());
  const server = await startServer({ webhook: `${edge.base}/livekit/webhook` });
  t.teardown(() => server.stop());
  t.teardown(() => dispose());
  const rooms = await roomWorkers(t, { server });

  await t.test('the agent and the user hear, write to and see each other', async (t) => {
    const { sessionId, call, followed } = openRoom(rooms.calls);
    await call.ready;
    call.setAttributes({ 'lk.agent.state': 'initializing' });
    call.sendData('agent-event', Buffer.from('early'));
    const user = await RealUser.join(server, sessionId);
    await followed.seen('connected');
    await until('what waited has come', () => user.data.includes('early'));
    await call.playSpeech(1, toneOf(1000, 500));
    call.finishUtterance(1);
    await until('it is played', () => followed.played(1) === 1000);
    await until('it is heard', () => loudMs(user.heard, 24_000) >= 900);
    t.ok(loudMs(user.heard, 24_000) <= 1150, 'and nothing of it twice');
    t.ok(Math.abs(pitchOf(user.heard, 24_000) - 500) < 25);

    call.showTranscript({ speaker: 'agent', segment: 'a', text: 'Hello ', final: false });
    call.showTranscript({ speaker: 'agent', segment: 'a', text: 'there.', final: true });
    call.showTranscript({ speaker: 'user', segment: 'u', text: 'Hi', final: false });
    call.showTranscript({ speaker: 'user', segment: 'u', text: 'Hi you.', final: true });
    await until('all is shown', () => user.shown.length === 3);
    const shown = user.shown.map(({ from, text, attributes }) => [
      ...[from, text, attributes['lk.segment_id'], attributes['lk.transcription_final']],
    ]);
    t.same(shown.sort(), [
      ['agent', 'Hello there.', 'a', 'false'],
      ['user', 'Hi you.', 'u', 'true'],
      ['user', 'Hi', 'u', 'false'],
    ]);
    call.setAttributes({ 'lk.agent.state': 'listening' });
    await until('its state is seen', () => user.states.at(-1) === 'listening');

    await user.say(1000, 800);
    await until('the user has ended', () =>
      followed.events.some((event) => event.kind === 'speech' && !event.active),
    );
    const heard = heardBy(followed);
    t.ok(loudMs(heard) >= 900 && loudMs(heard) <= 1150, `${loudMs(heard)} ms of sound`);
    t.ok(Math.abs(pitchOf(heard) - 800) < 40);
    await t.rejects(RealUser.join(server, sessionId, 'somebody'), 'a room is for one user');
    call.sendData('agent-event', Buffer.from('last words'));
    call.end();
    t.equal(await followed.over, undefined);
    await until('the last words have come', () => user.data.includes('last words'));
    await until('the user is out', () => !user.room.isConnected);
    await until('the server has told of it', () => ended.includes(sessionId));
    await t.rejects(RealUser.join(server, sessionId), 'nobody comes back');
  });

  await t.test('a user who comes back is heard and hears; who leaves has left', async (t) => {
    const { sessionId, call, followed } = openRoom(rooms.calls);
    await call.ready;
    const first = await RealUser.join(server, sessionId);
    await followed.seen('connected');
    const second = await RealUser.join(server, sessionId);
    await followed.seen('connected', 2);
    await until('the first is out', () => !first.room.isConnected);
    t.same(followed.kinds, ['connected', 'disconnected', 'connected']);
    let said = -Infinity;
    await until('it is heard', async () => {
      // What is said before the agent's end has the new microphone is lost.
      if (performance.now() - said > AGAIN_MS) {
        said = performance.now();
        await second.say(600, 800);
      }
      return loudMs(heardBy(followed)) >= 500;
    });
    await call.playSpeech(1, toneOf(500, 500));
    call.finishUtterance(1);
    await until('it hears', () => loudMs(second.heard, 24_000) >= 400);
    await first.leave();
    await second.leave();
    // LiveKit's client does not always manage to say goodbye.
    await until('it has gone', () => /left|disconnected/.test(followed.kinds.at(-1) ?? ''));
    call.end();
    t.equal(await followed.over, undefined);
  });

  await t.test('a user that is muted, or has no microphone, is silence', async (t) => {
    const { sessionId, call, followed } = openRoom(rooms.calls);
    await call.ready;
    const user = await RealUser.join(server, sessionId);
    await followed.seen('connected');
    await user.say(400, 800);
    const publication = [...(user.room.localParticipant?.trackPublications.values() ?? [])][0];
    await user.room.localParticipant?.unpublishTrack(publication?.sid ?? '');
    await until('the voice has ended', () =>
      followed.events.some((event) => event.kind === 'speech' && !event.active),
    );
    await user.leave();
    call.end();
    t.equal(await followed.over, undefined);
  });
});
