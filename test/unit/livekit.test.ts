/**
 * Livekit mode without a network: signed webhooks of a server about its rooms, and order and bounds of the agent's
 * messages to its user (docs/contract/transport.md "Livekit mode").
 */
import { EventEmitter } from 'node:events';
import { dispose, type LocalParticipant, type Room } from '@livekit/rtc-node';
import t, { type Test } from 'tap';
import type { EndedReason } from '../../contracts/ports/sessions/sessions.js';
import { clusterDialect } from '../../gateway/calls/signalling.js';
import { Outgoing } from '../../media/livekit/outgoing.js';
import { loadRtc } from '../../media/livekit/rtc.js';
import { Voice } from '../../media/livekit/voice.js';
import { startEdge } from '../fixtures/edge.js';
import { postEvent } from '../fixtures/livekit-cluster.js';
import { until } from '../fixtures/until.js';

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
    remove: (id: string) => {
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

/** The library's side of writing: accepts everything, or fails if the test says so. */
class Library {
  readonly identity = 'agent';
  readonly taken: string[] = [];
  readonly options: object[] = [];
  readonly attributes: object[] = [];
  fails = false;
  #streams = 0;

  publishData(payload: Uint8Array, options: object): Promise<void> {
    if (this.fails) return Promise.reject(new Error('not now'));
    this.options.push(options);
    this.taken.push(`data ${Buffer.from(payload).toString()}`);
    return Promise.resolve();
  }

  streamText({ senderIdentity }: { readonly senderIdentity: string }) {
    const name = `${senderIdentity} ${++this.#streams}`;
    this.taken.push(`${name} begins`);
    return Promise.resolve({
      write: (text: string) => Promise.resolve(void this.taken.push(`${name}: ${text}`)),
      close: () => Promise.resolve(void this.taken.push(`${name} ends`)),
    });
  }

  setAttributes(values: object): Promise<void> {
    this.attributes.push(values);
    return Promise.resolve();
  }
}

const outgoing = (library: Library): Outgoing =>
  new Outgoing(library as unknown as LocalParticipant, 'user', () => 'TR_1');

t.test('the agent’s messages wait for the user, keep their order, and survive a failed one', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  out.message('agent-event', Buffer.from('1'));
  out.show({ speaker: 'user', segment: 'u', text: 'Hi', final: true });
  await out.written();
  t.same(library.taken, []);
  out.there(true);
  out.message('agent-event', Buffer.from('2'));
  await out.written();
  t.same(library.taken, ['data 1', 'user 1 begins', 'user 1: Hi', 'user 1 ends', 'data 2']);
  t.match(library.options[0], { reliable: true, topic: 'agent-event', destination_identities: ['user'] });
  library.fails = true;
  out.message('agent-event', Buffer.from('3'));
  await out.written();
  library.fails = false;
  out.message('agent-event', Buffer.from('4'));
  await out.written();
  t.equal(library.taken.at(-1), 'data 4');
});

t.test('an unfinished transcript of the agent begins again for a user who returns, once', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  out.there(true);
  out.show({ speaker: 'agent', segment: 'a', text: 'One ', final: false });
  await out.written();
  out.there(false);
  out.show({ speaker: 'agent', segment: 'a', text: 'two ', final: false });
  out.there(true);
  out.show({ speaker: 'agent', segment: 'a', text: 'three.', final: true });
  await out.written();
  const [first, again] = [['agent 1 begins', 'agent 1: One ', 'agent 1 ends'], 'agent 2'];
  t.same(library.taken, [
    ...first,
    `${again} begins`,
    `${again}: One two `,
    `${again}: three.`,
    `${again} ends`,
  ]);
  out.there(false);
  out.show({ speaker: 'agent', segment: 'b', text: 'Whole.', final: true });
  out.there(true);
  await out.written();
  t.same(library.taken.slice(-3), ['agent 3 begins', 'agent 3: Whole.', 'agent 3 ends']);
});

t.test('waiting messages are bounded; of attributes the latest counts', async (t) => {
  const library = new Library();
  const out = outgoing(library);
  for (let each = 0; each < 1000; each += 1) out.message('agent-event', Buffer.alloc(1000));
  out.there(true);
  await out.written();
  t.ok(library.taken.length > 100 && library.taken.length < 300, `${library.taken.length} have waited`);
  for (const state of ['initializing', 'listening', 'thinking', 'speaking'])
    out.attributes({ 'lk.agent.state': state, [state]: '1' });
  await until('the last is known', () => library.attributes.length === 2);
  t.match(library.attributes[1], { 'lk.agent.state': 'speaking', initializing: '1', thinking: '1' });
});

/** A room whose server accepts every track, and in which nobody subscribes to one unless the test says so. */
class PublishingRoom extends EventEmitter {
  readonly done: string[] = [];
  /** Whether packets of the present track are sent; `#sent` counts them. */
  sends = true;
  #sent = 0n;
  /** Operations that fail. */
  refuses: readonly ('publish' | 'unpublish')[] = [];
  /** Whether unpublishing never resolves. */
  hangs = false;
  #tracks = 0;
  /** Tracks that were published before: publishing one again times out. */
  readonly #told = new Set<object>();

  readonly localParticipant = {
    publishTrack: (track: object) => {
      if (this.#told.has(track)) return Promise.reject(new Error('track publication timed out'));
      this.#told.add(track);
      if (this.refuses.includes('publish')) return Promise.reject(new Error('the engine is closed'));
      const sid = `TR_${(this.#tracks += 1)}`;
      this.done.push(`publish ${sid}`);
      return Promise.resolve({ sid, waitForSubscription: () => new Promise<void>(() => undefined) });
    },
    unpublishTrack: (sid: string) => {
      if (this.hangs) return new Promise<void>(() => undefined);
      if (this.refuses.includes('unpublish')) return Promise.reject(new Error('track not found'));
      return Promise.resolve(void this.done.push(`unpublish ${sid}`));
    },
  };

  getRtcStats() {
    if (this.sends) this.#sent += 10n;
    const sent = { packetsSent: this.#sent };
    const other = { stats: { case: 'codec', value: {} } };
    return Promise.resolve({ publisherStats: [other, { stats: { case: 'outboundRtp', value: { sent } } }] });
  }
}

/** Publishes the agent's voice in a room; `beats` lets time pass for it. */
async function published(t: Test) {
  t.teardown(() => dispose());
  const rtc = await loadRtc();
  const room = new PublishingRoom();
  const voice = await Voice.publish(rtc, room as unknown as Room, new AbortController().signal);
  t.teardown(() => voice.speaker.close());
  const beats = async (seconds: number, wanted = true): Promise<void> => {
    for (let beat = 0; beat < seconds * 50; beat += 1) {
      voice.beat(wanted);
      // Lets work that a beat began complete; it needs no network.
      if (beat % 50 === 49) await new Promise(setImmediate);
    }
  };
  return { rtc, room, voice, beats };
}

t.test('a republished track that nobody subscribes to is published once more', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  await beats(10);
  t.same(room.done, ['publish TR_1'], 'the first one waits for whoever comes');
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  await beats(10, false);
  t.same(room.done, ['publish TR_1'], 'nor is it before somebody is there');
  await beats(3);
  t.same(room.done.splice(0), ['publish TR_1', 'unpublish TR_1', 'publish TR_2']);
  t.equal(voice.trackSid, 'TR_2');
  for (let time = 0; time < 5; time += 1) await beats(3);
  t.equal(voice.trackSid, 'TR_4', 'some users ask for no sound');
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  await beats(10);
  t.equal(voice.trackSid, 'TR_4', 'one that is asked for stays');
  t.ok(voice.asked);
});

t.test('a subscribed track of which nothing is sent is published once more', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  await beats(3);
  // The new track is subscribed to. Then the library reconnects, fails to publish it again, and reports nothing.
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  t.equal(voice.trackSid, 'TR_2');
  room.sends = false;
  room.emit(rtc.RoomEvent.Reconnected);
  await beats(8);
  t.equal(voice.trackSid, 'TR_3', 'it is asked for as far as anybody has said');
  room.sends = true;
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  await beats(20);
  t.equal(voice.trackSid, 'TR_3', 'one that is sent stays');
  room.emit(rtc.RoomEvent.Reconnected);
  await beats(20);
  t.equal(voice.trackSid, 'TR_3', 'as it does after a short break');
});

t.test('a track that the library knows by another name is published all the same', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  room.refuses = ['unpublish'];
  await beats(3);
  t.same(room.done.splice(0), ['publish TR_1', 'publish TR_2']);
  room.refuses = ['publish', 'unpublish'];
  await beats(30);
  t.same(room.done, [], 'while it negotiates nothing can be published');
  room.refuses = [];
  await beats(3);
  t.equal(voice.trackSid, 'TR_3', 'what has failed was no try');
});

t.test('a track of which nothing is sent any more is noticed, whatever the library reports', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  await beats(40);
  t.equal(voice.trackSid, 'TR_1');
  room.sends = false;
  await beats(30);
  t.not(voice.trackSid, 'TR_1');
});

t.test('a library that answers nothing holds up no further try', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  room.hangs = true;
  await beats(3);
  await until('it is published', async () => {
    await beats(0.1);
    return voice.trackSid === 'TR_2';
  });
});

t.test('a connection is lost if a user who had subscribed to the track gets nothing of it', async (t) => {
  const { rtc, room, voice, beats } = await published(t);
  room.emit(rtc.RoomEvent.LocalTrackRepublished);
  await beats(20);
  t.notOk(voice.lost, 'some users ask for no sound');
  room.emit(rtc.RoomEvent.LocalTrackSubscribed);
  await beats(5);
  t.notOk(voice.lost);
  room.sends = false;
  room.emit(rtc.RoomEvent.Reconnected);
  await beats(20, false);
  t.notOk(voice.lost, 'nor while nobody is there');
  await beats(20);
  t.ok(voice.lost);
});
