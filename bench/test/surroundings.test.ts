/** What is around a caller: as loud as it says, the same each time. */
import { Decoder } from '@evan/opus';
import t from 'tap';
import {
  bytesOf,
  gain,
  mixed,
  RATE,
  rmsOf,
  scaled,
  SPEECH_RMS,
  trimmed,
  wordsOf,
} from '../src/audio/level.js';
import { babbled, hummed, normalised, telephoned, televised } from '../src/audio/surroundings.js';
import { DIRECT, frameOf, inRoom, losing, Speakerphone } from '../src/calls/way.js';
import { encodeUtterance, SILENCE } from '../src/calls/utterance.js';

const tone = (hertz: number, seconds: number, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: RATE * seconds }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / RATE)),
  );

const decibels = (one: Int16Array, other: Int16Array): number => 20 * Math.log10(rmsOf(one) / rmsOf(other));

const isAbout = (
  t: { ok(is: boolean, what: string): unknown },
  found: number,
  wanted: number,
  within: number,
  what: string,
): void => void t.ok(Math.abs(found - wanted) <= within, `${what}: ${found}, not ${wanted}`);

t.test('a crowd, a television and a hum are as loud as a caller, and the same each time', async (t) => {
  const voices = [tone(300, 1), tone(410, 2), tone(530, 1.5)];
  for (const make of [() => babbled(voices, 3), () => televised(voices), () => hummed(120)]) {
    const sound = make();
    isAbout(t, rmsOf(sound), SPEECH_RMS, SPEECH_RMS * 0.25, 'loudness');
    t.strictSame(make(), sound);
  }
  t.equal(babbled(voices, 3).length, 3 * RATE);
});

t.test('what is mixed in is as much quieter as it says, and does not end before the caller', async (t) => {
  const speech = normalised(tone(700, 2));
  const noise = scaled(normalised(tone(300, 0.5)), gain(-10));
  const heard = mixed(speech, noise);
  t.equal(heard.length, speech.length);
  const added = heard.map((sample, at) => sample - speech[at]!);
  isAbout(t, decibels(added.slice(RATE), speech), -10, 0.3, 'dB');
});

t.test('a telephone line carries the middle of speech, and neither its lowest nor its highest', async (t) => {
  const [low, middle, high] = [tone(80, 1), tone(1000, 1), tone(6000, 1)];
  const mix = mixed(mixed(low, middle), high);
  const carried = telephoned(mix);
  t.equal(carried.length, mix.length);
  const correlation = (wanted: Int16Array): number =>
    Math.abs(carried.reduce((sum, sample, at) => sum + sample * wanted[at]!, 0)) /
    (rmsOf(carried) * rmsOf(wanted) * wanted.length);
  t.ok(correlation(high) < 0.02, 'what 8 kHz cannot hold is gone');
  t.ok(decibels(telephoned(mixed(scaled(low, 0), middle)), carried) < 1, 'most is the middle');
});

t.test('silence around what sounds is cut off', async (t) => {
  const whole = Int16Array.from([0, 50, 200, 0, -300, 20, 0]);
  t.strictSame(trimmed(whole), Int16Array.from([200, 0, -300]));
  t.strictSame(trimmed(new Int16Array(5)), new Int16Array());
});

const packets = encodeUtterance(Buffer.from(bytesOf(tone(440, 1)))).packets;
const said = { packet: packets[0]!, pcm: Buffer.alloc(960) };

t.test('so many packets are lost as it says, the same ones for the same seed', async (t) => {
  const lost = (seed: number): number[] => {
    const way = losing(0.1, seed);
    return Array.from({ length: 5000 }, (_, at) => (way.packetOf(said) === undefined ? at : -1)).filter(
      (at) => at >= 0,
    );
  };
  isAbout(t, lost(1).length / 5000, 0.1, 0.015, 'share');
  t.strictSame(lost(1), lost(1));
  t.notSame(lost(1), lost(2));
});

t.test('in a room the room is heard whenever the caller says nothing', async (t) => {
  const way = inRoom(packets.slice(0, 2));
  t.equal(way.packetOf(undefined), packets[0]);
  t.equal(way.packetOf(said), said.packet);
  t.equal(way.packetOf(undefined), packets[1]);
  t.equal(way.packetOf(undefined), packets[0], 'over and over');
  t.equal(DIRECT.packetOf(undefined), SILENCE);
});

t.test(
  'a speakerphone gives the agent back 20 dB quieter, a little later, and nothing once it is silent',
  async (t) => {
    const phone = new Speakerphone(-20);
    const agent = Buffer.from(bytesOf(tone(440, 1)));
    const decoder = new Decoder({ channels: 1, sample_rate: RATE });
    const sent: Int16Array[] = [];
    for (let at = 0; at < 100; at += 1) {
      if (at < 50) phone.hear(frameOf(agent, at));
      sent.push(wordsOf(decoder.decode(phone.packetOf(undefined))));
    }
    t.ok(
      sent.slice(0, 3).every((frame) => rmsOf(frame) < 30),
      'it waits in the player',
    );
    const level = 20 * Math.log10(rmsOf(sent[30]!) / rmsOf(tone(440, 1)));
    isAbout(t, level, -20, 6, 'a single tone may meet its own reflections');
    t.ok(rmsOf(sent[95]!) < 30, 'silent');
  },
);
