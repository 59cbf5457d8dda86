/** The track of the agent in livekit mode, whatever the library makes of it. */
import { EventEmitter } from 'node:events';
import { dispose, type Room } from '@livekit/rtc-node';
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { loadRtc } from '../../../../media/livekit/rtc.js';
import { RoomVoice } from '../../../../media/livekit/voice.js';
import { until } from '../../../fixtures/until.js';

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
  const voice = await RoomVoice.publish(rtc, room as unknown as Room, new AbortController().signal);
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
