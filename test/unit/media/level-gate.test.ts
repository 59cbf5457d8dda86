/** The level gate: which voice is taken for the user's, by loudness that is learnt within a call. */
import t from '../../fixtures/tap.js';
import { DETECTOR_FRAME } from '../../../media/detector-frame.js';
import { LevelGate, type VoiceOwner } from '../../../media/level-gate.js';
import { RoomLevel } from '../../../media/room-level.js';
import { VadWindows } from '../../../media/vad-windows.js';
import type { Report } from '../../../media/wire.js';
import { exactly } from '../../fixtures/exactly.js';
import { seeded } from '../../fixtures/random.js';

const FRAMES_A_SECOND = 16_000 / DETECTOR_FRAME;
/** Frames that a detector needs to notice a voice, and to be sure of its end. */
const LATE = { begin: 2, end: 8 };

/** A room with a microphone: constant noise, and voices whose level rises and falls with syllables. */
class Room {
  listens = true;
  readonly whose: (VoiceOwner | undefined)[] = [];
  readonly #gate = new LevelGate(() => this.listens);
  readonly #random = seeded(3);

  constructor(private readonly noiseDb = -70) {
    this.quiet(1);
  }

  #frame(db: number): Int16Array {
    const amplitude = (level: number): number => 32_768 * 10 ** (level / 20) * Math.sqrt(3);
    const [voice, noise] = [amplitude(db), amplitude(this.noiseDb)];
    const sample = (): number => (this.#random() * 2 - 1) * voice + (this.#random() * 2 - 1) * noise;
    return Int16Array.from({ length: DETECTOR_FRAME }, () => Math.max(-32_768, Math.min(32_767, sample())));
  }

  #push(db: number, voiced: boolean): VoiceOwner | undefined {
    const whose = this.#gate.push(this.#frame(db), voiced);
    this.whose.push(whose);
    return whose;
  }

  quiet(seconds: number): this {
    for (let frame = 0; frame < seconds * FRAMES_A_SECOND; frame += 1) this.#push(-120, false);
    return this;
  }

  /** Somebody speaks, at `db` in the loudest moments; returns how many frames were taken for whose voice. */
  voice(db: number, seconds: number): Record<VoiceOwner, number> {
    const heard = { user: 0, background: 0 };
    const frames = Math.round(seconds * FRAMES_A_SECOND);
    for (let frame = 0; frame < frames; frame += 1) {
      const whose = this.#push(db - (frame % 12 < 8 ? 0 : 25), frame >= LATE.begin);
      if (whose) heard[whose] += 1;
    }
    for (let frame = 0; frame < LATE.end; frame += 1) this.#push(-120, true);
    this.quiet(0.5);
    return heard;
  }

  /** A room after three turns of a user at about −24 dB. */
  static known(noiseDb?: number): Room {
    const room = new Room(noiseDb);
    for (const db of [-25, -24, -23]) room.voice(db, 1.5);
    return room;
  }
}

/** Seconds of a user at −24 dB, and for whose a voice at −39 dB is taken afterwards. 1.7 s is "Please count all the words." */
for (const { seconds, taken } of [
  { seconds: 0.3, taken: 'user' },
  { seconds: 0.7, taken: 'user' },
  { seconds: 0.9, taken: 'background' },
  { seconds: 1.7, taken: 'background' },
  { seconds: 3, taken: 'background' },
] as const)
  t.test(`after ${seconds} s of the user somebody 15 dB below is ${taken}`, async (t) => {
    for (const noise of [-70, -42]) {
      const room = new Room(noise);
      room.voice(-24, seconds);
      room.listens = false;
      const heard = room.voice(-39, 2);
      t.equal(heard[taken === 'user' ? 'background' : 'user'], 0, `noise of ${noise} dB`);
    }
  });

t.test('a user who is only known by a louder first sentence is heard after two seconds', async (t) => {
  for (const first of [1, 1.7]) {
    const room = new Room();
    room.voice(-9, first);
    let seconds = 0;
    do seconds += 0.5;
    while (room.voice(-24, 0.5).user === 0 && seconds < 60);
    t.ok(seconds <= 2.5, `heard after ${seconds} s`);
  }
});

t.test('a voice 15 dB below the user’s is background, one 6 dB below is the user’s', async (t) => {
  for (const noise of [-70, -50, -42]) {
    t.equal(Room.known(noise).voice(-39, 2).user, 0, `noise of ${noise} dB`);
    t.equal(Room.known(noise).voice(-30, 2).background, 0, `noise of ${noise} dB`);
  }
});

t.test('one who moves away from the microphone is not heard for some seconds, and then again', async (t) => {
  const room = Room.known();
  t.equal(room.voice(-40, 3).user, 0, 'a first sentence');
  let seconds = 3;
  for (; seconds < 60 && room.voice(-40, 3).user === 0; seconds += 3);
  t.ok(seconds < 20, `heard after ${seconds} s of speech`);
  t.equal(room.voice(-40, 3).background, 0, 'and from then on at once');
  t.equal(room.voice(-55, 3).user, 0, 'and others are told from there');
});

t.test('remarks in the background while the agent speaks stay background', async (t) => {
  const room = Room.known();
  room.listens = false;
  for (let remark = 0; remark < 30; remark += 1) t.equal(room.voice(-39, 2).user, 0);
});

t.test('remarks of somebody else between the turns of the user do not add up', async (t) => {
  const room = Room.known();
  for (let turn = 0; turn < 20; turn += 1) {
    t.equal(room.voice(-40, 3).user, 0, `remark ${turn}`);
    t.equal(room.voice(-24, 1.5).background, 0);
  }
});

t.test('levels while the agent speaks are not learnt', async (t) => {
  const room = Room.known();
  room.listens = false;
  for (let echo = 0; echo < 8; echo += 1) room.voice(-5, 2);
  room.listens = true;
  t.equal(room.voice(-24, 1.5).background, 0, 'an echo that is louder than the user');
});

t.test('a knock or a shout changes the known levels little', async (t) => {
  const room = Room.known();
  room.voice(-3, 0.2);
  room.voice(-6, 1);
  t.equal(room.voice(-24, 1.5).background, 0);
});

t.test('a voice in the background that gets as loud as the user is the user’s from then on', async (t) => {
  const room = Room.known();
  const before = room.whose.length;
  room.voice(-42, 0.5);
  t.same(new Set(room.whose.slice(before)), new Set([undefined, 'background']));
  const begin = room.whose.length;
  for (const db of [-42, -24]) room.voice(db, 1);
  t.ok(room.whose.slice(begin).includes('user'));
});

t.test('the voice of a user ends, although somebody else continues', async (t) => {
  const reports: Report[] = [];
  const random = seeded(5);
  let voiced = false;
  const detector = { push: () => voiced };
  const vad = new VadWindows(
    detector,
    (report) => reports.push(report),
    () => true,
  );
  const hear = (db: number, seconds: number): void => {
    voiced = db > -90;
    const amplitude = 32_768 * 10 ** (db / 20) * Math.sqrt(3);
    for (let frame = 0; frame < seconds * FRAMES_A_SECOND; frame += 1)
      vad.push(Int16Array.from({ length: DETECTOR_FRAME }, () => (random() * 2 - 1) * amplitude));
  };
  for (let turn = 0; turn < 3; turn += 1) {
    hear(-24, 1.5);
    hear(-95, 1);
  }
  reports.length = 0;
  hear(-24, 1.5);
  hear(-42, 3);
  hear(-95, 1);
  const told = reports.flatMap((each) => (each.on === 'speech' ? [[each.active, each.background]] : []));
  t.same(told, [
    [true, false],
    [false, undefined],
    [true, true],
    [false, undefined],
  ]);
  reports.length = 0;
  hear(-42, 0.6);
  hear(-24, 1.5);
  hear(-95, 1);
  const turned = reports.flatMap((each) => (each.on === 'speech' ? [[each.active, each.background]] : []));
  t.same(
    turned,
    [
      [true, true],
      [true, false],
      [false, undefined],
    ],
    'and one who joins in has spoken from the beginning: no end in between',
  );
});

const USER_DB = -24;
/** A detector that hears a voice all the time, as in a crowd. */
const EVER = { push: () => true };

/** A room full of voices: its level wanders, and who speaks is added to it. Told are the changes of the user's voice, in seconds. */
class Crowd {
  listens = true;
  readonly told: { readonly active: boolean; readonly at: number; readonly silentMs: number | undefined }[] =
    [];
  now = 0;
  readonly #random = seeded(7);
  readonly #vad = new VadWindows(
    EVER,
    (report) => {
      if (report.on !== 'speech' || report.background) return;
      if (report.active || this.isActive)
        this.told.push({ active: report.active, at: this.now, silentMs: report.silentMs });
    },
    () => this.listens,
  );

  constructor(private readonly crowdDb: number) {}

  get isActive(): boolean {
    return this.told.at(-1)?.active ?? false;
  }

  /** Nobody but the crowd. */
  wait(seconds: number): this {
    return this.say(-96, seconds);
  }

  /** The line is silenced, as the agent's echo comes back. */
  silence(seconds: number): this {
    const frame = new Int16Array(DETECTOR_FRAME);
    for (let at = 0; at < seconds * FRAMES_A_SECOND; at += 1) this.#vad.push(frame.slice().fill(50), frame);
    this.now += seconds;
    return this;
  }

  /** The user speaks, with syllables between which the crowd is heard. */
  say(db: number, seconds: number): this {
    for (let frame = 0; frame < seconds * FRAMES_A_SECOND; frame += 1) {
      this.now += 1 / FRAMES_A_SECOND;
      const crowd = this.crowdDb + 1.5 * Math.sin(frame / 5) + (this.#random() - 0.5);
      const amplitude = (level: number): number => 32_768 * 10 ** (level / 20) * Math.sqrt(3);
      const [voice, others] = [amplitude(frame % 10 < 7 ? db : db - 20), amplitude(crowd)];
      const sample = (): number => (this.#random() * 2 - 1) * voice + (this.#random() * 2 - 1) * others;
      this.#vad.push(Int16Array.from({ length: DETECTOR_FRAME }, sample));
    }
    return this;
  }

  /** After three turns of the user. */
  static known(crowdDb: number): Crowd {
    const crowd = new Crowd(crowdDb).wait(2);
    for (let turn = 0; turn < 3; turn += 1) crowd.say(USER_DB, 2).wait(2);
    crowd.told.length = 0;
    return crowd;
  }
}

for (const below of [20, 15, 11])
  t.test(
    `in a crowd ${below} dB below the user their voice ends, although there is always a voice`,
    async (t) => {
      const crowd = Crowd.known(USER_DB - below);
      const begun = crowd.now;
      const ended = crowd.say(USER_DB, 3).now;
      crowd.wait(4);
      exactly(
        t,
        crowd.told,
        [{ active: true }, { active: false }],
        'once, and nobody else is taken for them',
      );
      const [begins, ends] = crowd.told;
      t.ok(begins!.at - begun < 0.45, `noticed after ${begins!.at - begun} s, within the audio that is kept`);
      t.ok(ends!.at - ended < 0.7, `ended after ${ends!.at - ended} s`);
      const silence = 1000 * (ends!.at - ended);
      t.ok(
        Math.abs(ends!.silentMs! - silence) <= 130,
        `${ends!.silentMs} ms of silence are told of ${silence}`,
      );
    },
  );

t.test('in a crowd a user of whom nothing is known yet is told from it', async (t) => {
  const crowd = new Crowd(USER_DB - 15).wait(3);
  crowd.told.length = 0;
  crowd.say(USER_DB, 2).wait(2);
  exactly(t, crowd.told, [{ active: true }, { active: false }]);
});

t.test('in a crowd a user who speaks over the agent is heard', async (t) => {
  const crowd = Crowd.known(USER_DB - 12);
  crowd.listens = false;
  crowd.wait(5);
  t.same(crowd.told, [], 'the crowd is not');
  crowd.say(USER_DB, 1);
  exactly(t, crowd.told, [{ active: true }]);
});

t.test('a line that is silenced after the agent’s words does not make the crowd forgotten', async (t) => {
  const crowd = Crowd.known(USER_DB - 12);
  for (let turn = 0; turn < 3; turn += 1) crowd.silence(0.6).wait(0.3).say(USER_DB, 1).wait(1);
  t.same(
    crowd.told.map(({ active }) => active),
    [true, false, true, false, true, false],
  );
});

t.test('after noise as loud as the user, for 45 s, the user is heard at once', async (t) => {
  const room = Room.known();
  room.voice(USER_DB, 45);
  t.equal(room.voice(USER_DB, 2).background, 0);
});

t.test('one who speaks long sentences, now loud, now soft, is heard throughout', async (t) => {
  const room = Room.known();
  const before = room.whose.length;
  for (const db of [-24, -30, -24, -28, -33, -24]) {
    const heard = room.voice(db, 3);
    t.ok(heard.user >= 3 * FRAMES_A_SECOND - 3, `${heard.user} frames at ${db} dB`);
  }
  t.notOk(room.whose.slice(before).includes('background'));
});

t.test('a tone is a voice for as long as the detector says so', async (t) => {
  const gate = new LevelGate(() => true);
  const tone = new Int16Array(DETECTOR_FRAME).fill(3000);
  const whose = Array.from({ length: 12 * FRAMES_A_SECOND }, () => gate.push(tone, true));
  t.same(new Set(whose), new Set(['user']));
});

t.test('while the agent speaks a voice is somebody else’s sooner than while it listens', async (t) => {
  for (const { db, listens, taken } of [
    { db: -35, listens: false, taken: 'background' },
    { db: -35, listens: true, taken: 'user' },
    { db: -32, listens: false, taken: 'user' },
  ] as const) {
    const room = Room.known();
    room.listens = listens;
    t.equal(room.voice(db, 2)[taken === 'user' ? 'background' : 'user'], 0, `${db} dB is ${taken}`);
  }
});

t.test('the room is as loud as its softest moments of the last six seconds', async (t) => {
  const room = new RoomLevel();
  const hear = (db: number, seconds: number): number => {
    for (let frame = 0; frame < seconds * FRAMES_A_SECOND; frame += 1) room.push(db);
    return room.db;
  };
  t.equal(hear(-40, 1), -96, 'unknown at first');
  t.equal(hear(-40, 1), -40);
  t.equal(hear(-20, 3), -40, 'somebody speaks');
  t.equal(hear(-20, 4), -20, 'and is the room if there is nothing else');
  t.equal(hear(-60, 0.2), -20);
  t.equal(hear(-60, 0.3), -60, 'a third of a second is enough to hear that it is silent');
  t.equal(hear(-Infinity, 1), -96);
});
