/** What is heard of a telephone line, in whatever pieces and bursts it comes. */
import t from '../../../fixtures/tap.js';
import { bytesOf } from '../../../../contracts/audio.js';
import { codecFor } from '../../../../media/phone/codecs.js';
import { PhoneReceiver } from '../../../../media/phone/receiver.js';
import { frequencyOf, peakOf } from '../../../fixtures/codecs/audio.js';

const MULAW = { codec: 'mulaw', rate: 8000 } as const;
const WIDE = { codec: 'linear', rate: 16_000 } as const;

const sine = (hertz: number, rate: number, samples: number, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: samples }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );

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

t.test('a voice that breaks off in the middle is waited for longer than one that has ended', (t) => {
  const { heard, levels, chunk } = ears();
  heard.hear(chunk(4));
  for (let beat = 0; beat < 50; beat += 1) heard.beat(1, true);
  t.same(levels, [4], 'a second is waited for');
  for (let late = 0; late < 50; late += 1) heard.hear(chunk(5));
  t.same(levels.slice(1), Array<number>(50).fill(5), 'and nothing is between it and the rest');
  for (let beat = 0; beat < 70; beat += 1) heard.beat(1, true);
  t.same(levels.slice(51), Array<number>(70).fill(0), 'a microphone that stays away is muted');
  t.end();
});

t.test('a line whose audio is paced elsewhere loses nothing of it', (t) => {
  const levels: number[] = [];
  const heard = new PhoneReceiver(MULAW, (samples) => levels.push(samples.length), true);
  for (let piece = 0; piece < 1000; piece += 1) heard.hear(new Uint8Array(160));
  t.equal(levels.length, 1000);
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
