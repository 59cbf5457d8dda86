/**
 * Telephone lines without a network: codecs, sound in both directions, marks, keys, numbers and tokens. Signatures and
 * messages of providers are in phone-providers.test.ts.
 */
import t from 'tap';
import { bytesOf } from '../../contracts/audio.js';
import { LIMITS } from '../../contracts/limits.js';
import { callerAddress, phoneAddress } from '../../contracts/phone/phone.js';
import { keyed, readClientEvent } from '../../gateway/conversations/client/events.js';
import { Keypad } from '../../gateway/conversations/client/keypad.js';
import { createStreamTokens } from '../../gateway/phone/stream-tokens.js';
import { codecFor } from '../../media/phone/codecs.js';
import { PhoneReceiver } from '../../media/phone/receiver.js';
import { Marks } from '../../media/phone/marks.js';
import { PhoneVoice } from '../../media/phone/voice.js';
import { FRAME_SAMPLES, Playout } from '../../media/playout.js';
import type { PlayedReport } from '../../media/wire.js';
import { frequencyOf, peakOf } from '../fixtures/codecs-audio.js';
import { keysIn } from '../fixtures/dtmf.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';

const MULAW = { codec: 'mulaw', rate: 8000 } as const;
const WIDE = { codec: 'linear', rate: 16_000 } as const;

const sine = (hertz: number, rate: number, samples: number, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );

t.test('G.711 as ITU-T tabulates it, and linear as it is', (t) => {
  // Codes of the ends of the segments (G.711, tables 1a and 2a), scaled to 16 bits.
  const mulaw: [number, number][] = [
    [0x80, 32_124],
    [0x8f, 16_764],
    [0x9f, 8316],
    [0xff, 0],
    [0x00, -32_124],
    [0x7f, 0],
  ];
  const alaw: [number, number][] = [
    [0xaa, 32_256],
    [0xa5, 16_896],
    [0xd5, 8],
    [0x2a, -32_256],
    [0x55, -8],
  ];
  for (const [codec, cases] of [
    ['mulaw', mulaw],
    ['alaw', alaw],
  ] as const)
    for (const [byte, sample] of cases) {
      t.equal(codecFor({ codec }).decode(Uint8Array.of(byte))[0], sample, `${codec} ${byte}`);
      if (byte !== 0x7f) t.same(codecFor({ codec }).encode(Int16Array.of(sample)), Uint8Array.of(byte));
    }
  for (const codec of ['mulaw', 'alaw'] as const) {
    const { encode, decode } = codecFor({ codec });
    const all = Int16Array.from({ length: 65_536 }, (_, at) => at - 32_768);
    const worst = decode(encode(all)).map(
      (sample, at) => Math.abs(sample - all[at]!) - Math.abs(all[at]!) / 16,
    );
    t.ok(
      Math.max(...worst.filter((_, at) => Math.abs(all[at]!) < 32_000)) <= 16,
      `${codec}: within half a step`,
    );
  }
  const samples = Int16Array.of(1, -2, 300);
  t.same(codecFor(WIDE).decode(codecFor(WIDE).encode(samples)), samples);
  t.end();
});

t.test('the agent’s voice leaves in frames of 20 ms, at the line’s rate', (t) => {
  for (const [format, bytes] of [
    [MULAW, 160],
    [WIDE, 640],
  ] as const) {
    const sent: Uint8Array[] = [];
    const said: Int16Array[] = [];
    const playout = new Playout(() => undefined);
    const voice = new PhoneVoice(
      format,
      playout,
      (audio) => sent.push(audio),
      (samples) => said.push(samples),
    );
    t.equal(voice.beat(), false, 'nothing is sent while nothing is said');
    playout.play(1, bytesOf(sine(1000, 24_000, 50 * FRAME_SAMPLES)));
    playout.finish(1);
    t.equal(voice.beat(), true);
    t.equal(said.length, 3, 'a little of it goes ahead');
    while (voice.beat());
    t.ok(sent.every(({ length }) => length === bytes));
    t.ok(sent.length >= 50 && sent.length <= 55, `${sent.length} frames`);
    const heard = Int16Array.from(sent.slice(5, 45).flatMap((audio) => [...codecFor(format).decode(audio)]));
    t.ok(Math.abs(frequencyOf(heard, format.rate) - 1000) < 10, 'and sounds as it did');
    t.ok(Math.abs(peakOf(heard) - 8000) < 400);
  }
  t.end();
});

t.test('a provider that wants larger pieces gets them whole, and each utterance to its end', (t) => {
  const sent: Uint8Array[] = [];
  const playout = new Playout(() => undefined);
  const said: Int16Array[] = [];
  const voice = new PhoneVoice(
    { ...MULAW, frames: 10 },
    playout,
    (audio) => sent.push(audio),
    (samples) => said.push(samples),
  );
  playout.play(1, bytesOf(sine(1000, 24_000, 25 * FRAME_SAMPLES)));
  playout.finish(1);
  voice.beat();
  t.same([sent.length, said.length, voice.hasLeft], [1, 12, false], 'a piece leaves at once');
  while (voice.beat());
  t.ok(voice.hasLeft);
  t.ok(sent.length === 3 && sent.every(({ length }) => length === 1600), 'the last has silence behind it');
  playout.play(2, bytesOf(sine(1000, 24_000, 15 * FRAME_SAMPLES)));
  voice.beat();
  voice.drop();
  t.ok(voice.hasLeft, 'what had not left is dropped');
  t.end();
});

t.test('a provider that gives no marks back has played what it was sent a little later', (t) => {
  const reports: PlayedReport[] = [];
  let asked = 0;
  const marks = new Marks(
    () => (asked += 1),
    (report) => reports.push(report),
    12,
  );
  marks.left({ on: 'played', utterance: 1, ms: 200, ended: true } as PlayedReport);
  marks.beat(false);
  t.equal(asked, 0, 'not before it has left');
  for (let beat = 0; beat < 12; beat += 1) marks.beat();
  t.same([asked, reports.length], [1, 0]);
  marks.beat();
  t.equal(reports.length, 1);
  t.end();
});

t.test('keys are tones between what is said, and speech waits for them', (t) => {
  for (const format of [MULAW, WIDE]) {
    const sent: Int16Array[] = [];
    const playout = new Playout(() => undefined);
    let pressed = 0;
    const voice = new PhoneVoice(
      format,
      playout,
      (audio) => sent.push(codecFor(format).decode(audio)),
      () => undefined,
      () => (pressed += 1),
    );
    playout.play(1, bytesOf(sine(1000, 24_000, 10 * FRAME_SAMPLES)));
    playout.finish(1);
    voice.beat();
    voice.press('0123456789*#w11');
    playout.play(2, bytesOf(sine(1000, 24_000, 10 * FRAME_SAMPLES)));
    playout.finish(2);
    for (let beats = 0; beats < 400; beats += 1) voice.beat();
    t.equal(pressed, 1);
    t.equal(keysIn(sent, format.rate), '0123456789*#11');
    const loudest = Math.max(...sent.map((frame) => peakOf(frame)));
    t.ok(loudest < 16_384, `${loudest}: never above half of the loudest`);
  }
  t.end();
});

/** The receiving side of a line, which records the level of each frame of 20 ms; `chunk` makes a piece of the line's sound. */
function ears(format: typeof MULAW | typeof WIDE = MULAW) {
  const levels: number[] = [];
  const heard = new PhoneReceiver(format, (samples) =>
    levels.push(Math.round(samples[samples.length >> 1]! / 1000)),
  );
  const { encode } = codecFor(format);
  const chunk = (thousands: number, frames = 1): Uint8Array =>
    encode(new Int16Array((format.rate / 50) * frames).fill(thousands * 1000));
  return { heard, levels, chunk };
}

t.test('pieces of a linear line may end within a sample, and a provider may begin anew after one', (t) => {
  const sound = sine(300, 16_000, 16_000);
  const bytes = Buffer.from(bytesOf(sound));
  const hears = (pieces: readonly Uint8Array[]): Int16Array => {
    const heard: number[] = [];
    const receiver = new PhoneReceiver(WIDE, (samples) => heard.push(...samples));
    for (const piece of pieces) receiver.hear(piece);
    return Int16Array.from(heard);
  };
  const piecesOf = (from: Buffer, size: number): Uint8Array[] =>
    Array.from({ length: Math.ceil(from.length / size) }, (_, at) =>
      from.subarray(at * size, (at + 1) * size),
    );
  const odd = hears(piecesOf(bytes, 641));
  t.ok(peakOf(odd.map((sample, at) => sample - (sound[at] ?? 0))) < 10, 'pieces of 641 bytes');
  const cut = hears([bytes.subarray(0, 6401), ...piecesOf(bytes, 640)]);
  const after = cut.subarray(cut.length - 12_000);
  t.ok(Math.abs(frequencyOf(after, 16_000) - 300) < 5, 'what begins anew');
  t.ok(peakOf(after) < 9000, 'is no noise');
  t.end();
});

t.test('a burst is heard whole, and a provider that is late breaks no word in two', (t) => {
  const { heard, levels, chunk } = ears();
  heard.hear(chunk(4));
  for (let beat = 0; beat < 19; beat += 1) heard.beat(1);
  t.same(levels, [4], '380 ms are waited for');
  for (let late = 0; late < 19; late += 1) heard.hear(chunk(5));
  t.equal(levels.length, 20, 'and come all at once');
  for (let beat = 0; beat < 20; beat += 1) heard.beat(1);
  t.equal(levels.length, 40, 'what is missing for longer was silence');
  t.same(levels.slice(-5), [0, 0, 0, 0, 0]);
  t.end();
});

t.test(
  'pieces are put in order, one that is missing is made up, and one that comes twice is heard once',
  (t) => {
    const { heard, levels, chunk } = ears(WIDE);
    const order = (...places: number[]): void => places.forEach((place) => heard.hear(chunk(place), place));
    order(1, 3, 2, 2, 4);
    t.same(levels, [1, 2, 3, 4]);
    order(6, 7, 8, 9);
    t.same(levels.slice(4), [2, 6, 7, 8, 9], 'a softer repeat of the last');
    t.end();
  },
);

t.test('long pieces that are counted are heard whole, and so are the short ones behind them', (t) => {
  const { heard, levels, chunk } = ears();
  heard.hear(chunk(1), 1);
  heard.hear(chunk(2, 12), 2);
  heard.hear(new Uint8Array(), 3);
  heard.hear(chunk(4), 4);
  heard.hear(chunk(5, 6), 5);
  heard.hear(chunk(6), 6);
  t.same(levels.filter(Boolean), [1, 2, 2, 2, 4, 5, 5, 6]);
  t.end();
});

t.test('long pieces are heard whole, and never much faster than real time', (t) => {
  const { heard, levels, chunk } = ears();
  heard.hear(chunk(3, 23));
  t.equal(levels.length, 5, '460 ms, five frames at a time');
  for (let piece = 0; piece < 1000; piece += 1) heard.hear(chunk(3, 5));
  t.ok(levels.length < 40, `three seconds ahead at most: ${levels.length / 10} s`);
  t.end();
});

const played = (utterance: number, ms: number, ended = false): PlayedReport => ({
  on: 'played',
  utterance,
  ms,
  ended,
});

function marks() {
  const sent: number[] = [];
  const told: [number, number, boolean][] = [];
  const all = new Marks(
    (mark) => sent.push(mark),
    ({ utterance, ms, ended }) => told.push([utterance, ms, ended]),
  );
  return { all, sent, told };
}

t.test('sent audio counts as heard when its mark comes back', (t) => {
  const { all, sent, told } = marks();
  all.left(played(1, 100));
  all.beat();
  all.left(played(1, 200));
  all.left(played(1, 240, true));
  all.beat();
  t.same([sent, told], [[1, 2], []]);
  all.came(7);
  all.came(1);
  t.same(told, [[1, 100, false]]);
  all.came(2);
  t.same(told.slice(1), [
    [1, 200, false],
    [1, 240, true],
  ]);
  all.came(2);
  t.equal(told.length, 3, 'twice is once');
  t.end();
});

t.test('dropped audio ends at the last heard frame, whatever marks come back', (t) => {
  const { all, told } = marks();
  all.left(played(1, 100));
  all.beat();
  all.came(1);
  all.left(played(1, 200));
  all.left(played(1, 220, true));
  all.left(played(2, 100));
  all.beat();
  all.dropped();
  // The playout drops its remaining sound.
  all.left(played(2, 160, true));
  t.same(told.slice(1), [
    [1, 100, true],
    [2, 0, true],
  ]);
  all.came(2);
  all.beat();
  t.equal(told.length, 3, 'the provider sends marks of what it dropped as well');
  all.left(played(3, 100, true));
  all.beat();
  all.came(3);
  t.same(told.at(-1), [3, 100, true]);
  t.end();
});

t.test('a provider that sends no marks back is believed to play what it is sent', (t) => {
  const { all, sent, told } = marks();
  all.left(played(1, 100));
  for (let beat = 0; beat < 150; beat += 1) all.beat();
  t.same(told, []);
  all.beat();
  t.same(told, [[1, 100, false]]);
  all.left(played(1, 200, true));
  all.beat();
  t.same([told.length, sent], [2, [1]], 'and is not asked again');
  t.end();
});

t.test('keys are reported together after #, after a pause, or when they are many', (t) => {
  const clock = new SimulatedClock();
  const told: string[] = [];
  const keypad = new Keypad(clock, (keys) => told.push(keys));
  const press = (keys: string): void => [...keys].forEach((key) => keypad.press(key));
  press('12#');
  t.same(told.splice(0), ['12']);
  press('3');
  clock.advance(LIMITS.phone.keysMs - 1);
  press('4*');
  clock.advance(LIMITS.phone.keysMs - 1);
  t.same(told, []);
  clock.advance(1);
  t.same(told.splice(0), ['34*'], '2 s after the last one');
  press('##');
  t.same(told.splice(0), ['#', '#'], '# by itself is told as well');
  press('1'.repeat(33));
  clock.advance(LIMITS.phone.keysMs);
  t.same(told.splice(0), ['1'.repeat(32), '1']);
  keypad.press('x');
  keypad.press('12');
  press('5');
  keypad.close();
  clock.advance(60_000);
  t.same(told, [], 'no keys, and those of a call that is over');
  t.end();
});

t.test('user.dtmf takes 1 to 32 keys', (t) => {
  const read = (digits: unknown) =>
    readClientEvent(Buffer.from(JSON.stringify({ type: 'user.dtmf', digits })));
  t.same(read('12#'), { type: 'user.dtmf', digits: '12#' });
  for (const bad of ['', '1'.repeat(33), 'x', 12, null, ['1']]) t.equal(read(bad), undefined, String(bad));
  t.equal(keyed('12#'), '[keypad: 12#]');
  t.end();
});

t.test('numbers are E.164 with their plus, or SIP addresses', (t) => {
  const cases: [string, string | undefined][] = [
    ['+493012345678', '+493012345678'],
    ['14155550123', '+14155550123'],
    ['sip:Shop@Example.com;transport=tls', 'sip:shop@example.com'],
    ['sips:shop@example.com', 'sips:shop@example.com'],
    [`sip:${'a'.repeat(55)}@b.de?x`, `sip:${'a'.repeat(55)}@b.de`],
    ['+1234567', '+1234567'],
    ['+123456789012345', '+123456789012345'],
    ...[
      '',
      'anonymous',
      '+0123456789',
      '+49 30 123456',
      '110',
      '+1234567890123456',
      'client:ann',
      'sip:shop',
      'sip:a@b@c',
      `sip:${'a'.repeat(56)}@b.de`,
      '+123456',
      'x+14155550123',
      'xsip:shop@example.com',
      '１２３４５６７８',
      '+4930123456\n',
    ].map((text): [string, undefined] => [text, undefined]),
  ];
  for (const [text, address] of cases) t.equal(phoneAddress(text), address, text);
  t.end();
});

t.test('a withheld number is nobody’s, also where a provider or SIP has an address for it', (t) => {
  const withheld = ['+266696687', '+7378742833', '+2562533', '+8656696', '+86282452253', '266696687'];
  for (const text of [...withheld, 'sip:Anonymous@anonymous.invalid', 'anonymous', ''])
    t.equal(callerAddress(text), null, text);
  t.equal(callerAddress('14155550123'), '+14155550123');
  t.equal(callerAddress('sip:ann@example.com'), 'sip:ann@example.com');
  t.end();
});

t.test('a token is good for its call at its provider alone', (t) => {
  const tokens = createStreamTokens(new Uint8Array(32).fill(7));
  const claims = { provider: 'twilio', callId: 'CA1' } as const;
  const token = tokens.issue('sess_1', claims);
  t.equal(tokens.verify(token, claims), 'sess_1');
  t.equal(tokens.verify(token, { ...claims, callId: 'CA2' }), undefined);
  t.equal(tokens.verify(token.replace('sess_1', 'sess_2'), claims), undefined);
  t.equal(createStreamTokens(new Uint8Array(32)).verify(token, claims), undefined, 'another installation');
  for (const bad of ['', '.', 'sess_1', `${token}.`, `${token}x`])
    t.equal(tokens.verify(bad, claims), undefined, bad);
  t.end();
});
