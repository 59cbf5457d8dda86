/**
 * A simulated caller's media without a network: the frames that its microphone sends, and what its receiver makes of packets
 * that arrive in order, late, in bursts, or not at all (media/embedded/caller).
 */
import t from '../../../../fixtures/tap.js';
import { bytesOf, PLAYOUT_RATE, RECOGNITION_RATE } from '../../../../../contracts/audio.js';
import { CallerReceiver } from '../../../../../media/embedded/caller/caller-receiver.js';
import { CallerVoice, RoomNoise, type Said } from '../../../../../media/embedded/caller/caller-voice.js';
import { OPUS_TYPE, RtpWriter } from '../../../../../media/embedded/rtp.js';
import { encoders } from '../../../../../media/opus-pool.js';

const FRAME_MS = 20;
const frame = (value: number): Int16Array =>
  Int16Array.from({ length: (PLAYOUT_RATE * FRAME_MS) / 1000 }, (_, index) =>
    index % 24 < 12 ? value : -value,
  );

/** An agent's packets: a loud frame wherever the plan has a sound. */
function packetsOf(plan: string): readonly (Buffer | undefined)[] {
  const encoder = encoders.take();
  const writer = new RtpWriter(1, OPUS_TYPE);
  const packets = [...plan].map((sound) => {
    writer.tick();
    return sound === '#' ? writer.packet(encoder.encode(bytesOf(frame(8000))), false) : undefined;
  });
  encoders.give(encoder);
  return packets;
}

/** What the receiver hears, one character per 20 ms, if the packet of beat i arrives at beat `arrival(i)`. */
function heardOf(plan: string, arrival: (beat: number) => number = (beat) => beat): string {
  let heard = '';
  const receiver = new CallerReceiver((_, samples) => {
    for (let at = 0; at < samples.length; at += RECOGNITION_RATE / 50) {
      const loudest = Math.max(...samples.subarray(at, at + RECOGNITION_RATE / 50));
      heard += loudest > 2000 ? '#' : '.';
    }
  });
  const packets = packetsOf(plan);
  for (let beat = 0; beat < plan.length + 60; beat += 1) {
    receiver.beat(beat, 1);
    packets.forEach((packet, sent) => packet && arrival(sent) === beat && receiver.packet(packet));
  }
  receiver.close();
  return heard.replace(/\.+$/, '').replace(/^\.+/, '');
}

const SPOKEN = `${'.'.repeat(10)}${'#'.repeat(20)}${'.'.repeat(15)}${'#'.repeat(10)}`;
const EXPECTED = SPOKEN.slice(10);

t.test('heard speech stands at the time when it was said, with the silences between', async (t) => {
  t.equal(heardOf(SPOKEN), EXPECTED);
});

t.test('packets that are late and come in bursts tear nothing apart', async (t) => {
  t.equal(
    heardOf(SPOKEN, (beat) => Math.ceil(beat / 6) * 6),
    EXPECTED,
  );
  t.equal(
    heardOf(SPOKEN, (beat) => beat + (beat % 3)),
    EXPECTED,
    'out of order',
  );
});

t.test('the beginning of a burst that was late is heard all the same', async (t) => {
  const heard = heardOf(SPOKEN, (beat) => (beat < 15 ? 15 : beat));
  t.equal(heard.replaceAll('.', '').length, EXPECTED.replaceAll('.', '').length);
});

t.test('a clock that stood still is followed', async (t) => {
  const heard = heardOf(SPOKEN, (beat) => (beat < 40 ? beat : beat + 30));
  t.equal(heard, `${'#'.repeat(20)}${'.'.repeat(45)}${'#'.repeat(10)}`);
});

interface Sent {
  readonly packets: number;
  readonly said: readonly Said[];
}

function spoken(say: (voice: CallerVoice) => void, beats: number): Sent {
  let packets = 0;
  const said: Said[] = [];
  const voice = new CallerVoice(
    ...([1, 0] as const),
    () => (packets += 1),
    (one) => said.push(one),
  );
  say(voice);
  for (let beat = 0; beat < beats; beat += 1) voice.beat(beat * FRAME_MS, 0);
  voice.close();
  return { packets, said };
}

const ms = (milliseconds: number): Uint8Array =>
  bytesOf(new Int16Array((PLAYOUT_RATE * milliseconds) / 1000).fill(500));

t.test('utterances follow one another, none before its moment; each reports when it was heard', async (t) => {
  const { packets, said } = spoken((voice) => {
    voice.say(1, 0, ms(100), false);
    voice.say(1, 0, ms(50), true);
    voice.say(2, 1000, ms(100), true);
  }, 100);
  t.equal(packets, 100, 'a microphone is never off');
  t.same(said, [
    { utterance: 1, from: 0, to: 150 },
    { utterance: 2, from: 1000, to: 1100 },
  ]);
});

t.test('the noise of a room has the given loudness, and is the same each time', async (t) => {
  const noise = (rms: number): Int16Array => {
    const samples = new Int16Array(PLAYOUT_RATE);
    new RoomNoise(rms).addTo(samples);
    return samples;
  };
  const rms = (samples: Int16Array): number =>
    Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  t.ok(Math.abs(rms(noise(400)) - 400) < 20, `${rms(noise(400))}`);
  t.same(noise(400), noise(400));
  t.equal(rms(noise(0)), 0);
});
