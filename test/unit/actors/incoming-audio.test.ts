/**
 * The one buffer of incoming audio: its bytes, in order and within their budget; what it charges; and the samples of turns
 * that end within one.
 */
import t from '../../fixtures/tap.js';
import { IncomingAudio, type TakenAudio } from '../../../actors/incoming-audio.js';
import { bytesOf as wholeBytes } from '../../../contracts/audio.js';
import { PIECE_BYTES, UNBOUNDED_SHARE } from '../../../contracts/ports/accounts/memory.js';
import { Ledger } from '../../../gateway/server/memory/ledger.js';
import { pick, seeded } from '../../fixtures/random.js';
import { base64, bytesOf } from '../../fixtures/protocol-a/realtime-host.js';

t.test('the input buffer gives the bytes that were appended, within its budget', async (t) => {
  const input = new IncomingAudio(UNBOUNDED_SHARE);
  const budget = 200_000;
  const random = seeded(5);
  let expected = Buffer.alloc(0);
  for (let step = 0; step < 3000; step += 1) {
    const bytes = Buffer.alloc(Math.floor(random() ** 8 * 40_000), Math.floor(random() * 256));
    const text = bytes.toString('base64');
    const unpadded = random() < 0.5 ? text.replace(/=+$/, '') : text;
    const outcome = input.append(random() < 0.05 ? `${unpadded}%` : unpadded, budget);
    if (outcome === 'taken') expected = Buffer.concat([expected, bytes]);
    if (outcome === 'full' && expected.length + bytes.length <= budget) return t.fail(`step ${step}: full`);
    if (input.bytes !== expected.length || input.bytes > budget) return t.fail(`step ${step}`);
    if (random() > 0.01) continue;
    const taken = input.takeFile();
    t.ok(Buffer.concat(taken.chunks).equals(expected), `step ${step}`);
    t.equal(taken.bytes, expected.length);
    if (random() < 0.5) input.putBack(taken);
    else expected = Buffer.alloc(0);
  }
  t.equal(input.append('A', budget), 'malformed');
  t.equal(input.append('', budget), 'taken', 'no bytes at all');
});

t.test('audio that comes back to the input buffer is put in front, in its order', async (t) => {
  const input = new IncomingAudio(UNBOUNDED_SHARE);
  const take = (byte: number) => {
    input.append(base64(byte), 100);
    return input.takeFile();
  };
  const [one, two, three] = [take(1), take(2), take(3)];
  input.append(base64(4), 100);
  input.putBack(two);
  input.putBack(three);
  input.putBack(one);
  t.equal(input.bytes, 4);
  t.strictSame(bytesOf(input.takeFile().chunks), [1, 2, 3, 4]);
  t.equal(input.bytes, 0);
});

t.test('the input buffer takes data URLs by the same rules', async (t) => {
  const input = new IncomingAudio(UNBOUNDED_SHARE);
  const append = (base64: string) => input.append(`data:audio/pcm;base64,${base64}`, 10);
  const zeros = (count: number) => append(Buffer.alloc(count).toString('base64'));
  t.equal(append('A'), 'malformed');
  t.equal(zeros(6), 'taken');
  t.equal(zeros(5), 'full');
  t.equal(zeros(4), 'taken', 'to the last byte');
  t.equal(input.bytes, 10);
});

t.test('many small appends cost the input buffer no more than their bytes', async (t) => {
  const input = new IncomingAudio(UNBOUNDED_SHARE);
  for (let index = 0; index < 100_000; index += 1) input.append('AAA=', 10 ** 6);
  const { chunks, bytes } = input.take();
  t.equal(bytes, 200_000);
  t.ok(chunks.length < 10, `${chunks.length} chunks`);
});

const KiB = 1024;

function charged(budget = Infinity) {
  const ledger = new Ledger(budget);
  const share = ledger.openShare({ kind: 'audio', holder: 'w', evict: () => undefined });
  return { ledger, share, input: new IncomingAudio(share) };
}

t.test(
  'pieces of two bytes in any spelling are charged as blocks, and give all of it back (X2)',
  async (t) => {
    const spellings = ['AAA= ', 'AA A=', 'data:audio/pcm;base64,AAA=', 'AAA=', '\nAAA', Buffer.alloc(2)];
    for (const spelling of spellings) {
      const { ledger, input } = charged();
      for (let piece = 0; piece < 50_000; piece += 1)
        if (typeof spelling === 'string') input.append(spelling, 10 ** 6);
        else input.add(spelling, 10 ** 6);
      t.equal(input.bytes, 100_000, String(spelling));
      t.equal(ledger.bytes, (16 + 64 + 64) * KiB);
      const taken = input.take();
      t.ok(taken.chunks.length < 5, `${taken.chunks.length} chunks`);
      input.release(taken);
      t.equal(ledger.bytes, 0, 'the last block went with the turn');
    }
  },
);

t.test('a small turn takes no block with it', async (t) => {
  const { ledger, input } = charged();
  const turns: TakenAudio[] = [];
  for (let turn = 0; turn < 100; turn += 1) {
    input.append(base64(turn, turn), 1000);
    turns.push(input.take());
  }
  t.equal(ledger.bytes, 16 * KiB + 100 * PIECE_BYTES);
  t.strictSame(
    turns.map(({ chunks }) => bytesOf(chunks)),
    turns.map((_, turn) => [turn, turn]),
    'what was taken does not change',
  );
  for (const turn of turns) input.release(turn);
  t.equal(ledger.bytes, 16 * KiB);
});

t.test('what is charged covers what waits, on a random walk, and nothing stays', async (t) => {
  const random = seeded(11);
  const { ledger, share, input } = charged();
  let taken: TakenAudio[] = [];
  for (let step = 0; step < 3000; step += 1) {
    const piece = Buffer.alloc(Math.floor(random() ** 6 * 60_000));
    const move = random();
    if (move < 0.8) input.append(piece.toString('base64') + pick(random, ['', ' ']), Infinity);
    else if (move < 0.87) taken.push(random() < 0.5 ? input.take() : input.takeFile());
    else if (move < 0.9) input.look();
    else if (move < 0.95) for (const one of taken.splice(0, 1)) input.putBack(one);
    else for (const one of taken.splice(0, 1)) input.release(one);
    const held = input.bytes + taken.reduce((sum, { bytes }) => sum + bytes, 0);
    if (ledger.bytes < held) return t.fail(`step ${step}: ${held} bytes, ${ledger.bytes} charged`);
    if (ledger.bytes > 2 * held + 80 * KiB + 2 * PIECE_BYTES * (step + 1))
      return t.fail(`step ${step}: ${held} bytes, ${ledger.bytes} charged`);
  }
  for (const one of [...taken, input.takeFile()]) input.release(one);
  t.ok(share.bytes <= 64 * KiB, 'at most the block in use');
  taken = [];
  share.close();
  t.equal(ledger.bytes, 0);
});

t.test('without memory a piece is refused, and nothing has changed', async (t) => {
  const { input } = charged(40 * KiB);
  const small = Buffer.alloc(10 * KiB, 1).toString('base64');
  const large = Buffer.alloc(30 * KiB, 2).toString('base64');
  t.equal(input.append(small, 10 ** 6), 'taken');
  t.equal(input.append(large, 10 ** 6), 'exhausted');
  t.equal(input.append(small, 10 ** 6), 'exhausted', 'no room for another block');
  t.equal(input.bytes, 10 * KiB);
  t.equal(input.adopt(Buffer.alloc(30 * KiB)), undefined);
  input.release(input.take());
  t.equal(input.append(small, 10 ** 6), 'taken', 'once the turn is over');
});

/** Something like a voice: sines of some strength, with a little noise. */
function voice(samples: number, seed: number): Buffer {
  const random = seeded(seed);
  const sound = Int16Array.from({ length: samples }, (_, at) =>
    Math.round(6000 * Math.sin(at / 9) + 2000 * Math.sin(at / 3.1) + 100 * random()),
  );
  return Buffer.from(wholeBytes(sound));
}

const whole = ({ chunks }: Pick<TakenAudio, 'chunks'>): Buffer => Buffer.concat(chunks);

function filled(...pieces: readonly Buffer[]): IncomingAudio {
  const input = new IncomingAudio(UNBOUNDED_SHARE);
  for (const piece of pieces) input.add(piece, Infinity);
  return input;
}

t.test('a stream in pieces of 15 ms at 44.1 kHz stays aligned, wherever turns end', async (t) => {
  const stream = voice(40_000, 1);
  const input = filled();
  const random = seeded(2);
  const turns: Buffer[] = [];
  for (let at = 0; at < stream.length; at += 1323) {
    input.append(stream.subarray(at, at + 1323).toString('base64'), Infinity);
    if (random() < 0.3) turns.push(whole(input.take()));
    if (random() < 0.1) input.look();
  }
  turns.push(whole(input.take()));
  t.ok(turns.every(({ length }) => length % 2 === 0));
  t.ok(Buffer.concat(turns).equals(stream), 'no sample is lost');
});

t.test('a client that begins anew after half a sample is right as well', async (t) => {
  for (const size of [1323, 2000]) {
    const input = filled(voice(3000, 3).subarray(0, 4001));
    t.equal(input.take().bytes, 4000);
    const next = voice(8000, 4);
    for (let at = 0; at < next.length; at += size) input.add(next.subarray(at, at + size), Infinity);
    t.ok(whole(input.take()).equals(next), `in pieces of ${size}`);
  }
});

t.test('silence before the voice decides nothing yet', async (t) => {
  const quiet = Buffer.alloc(20_000);
  for (const isAnew of [false, true]) {
    const stream = voice(3000, 5);
    const input = filled(stream.subarray(0, 3001));
    input.take();
    input.add(isAnew ? quiet : Buffer.concat([stream.subarray(3001, 3002), quiet]), Infinity);
    input.look();
    input.add(stream.subarray(4000), Infinity);
    const taken = whole(input.take());
    t.ok(taken.subarray(-2000).equals(stream.subarray(-2000)), isAnew ? 'anew' : 'going on');
  }
});

t.test('white noise of full scale counts as going on', async (t) => {
  const random = seeded(6);
  const noise = Buffer.from(Array.from({ length: 20_001 }, () => Math.floor(random() * 256)));
  const input = filled(noise.subarray(0, 9001));
  input.take();
  input.add(noise.subarray(9001), Infinity);
  t.ok(whole(input.take()).equals(noise.subarray(9000, 20_000)));
});

t.test('a file has no samples: it comes out as it went in, and cuts nothing off what follows', async (t) => {
  const input = filled(voice(10, 7).subarray(0, 7));
  t.equal(input.take().bytes, 6);
  input.add(Buffer.of(1, 2, 3), Infinity);
  t.strictSame(bytesOf(input.takeFile().chunks), [1, 2, 3]);
  input.add(Buffer.of(4, 5), Infinity);
  t.strictSame(bytesOf(input.take().chunks), [4, 5]);
});
