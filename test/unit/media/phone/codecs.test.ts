/** The codecs of telephone lines. */
import t from '../../../fixtures/tap.js';
import { codecFor } from '../../../../media/phone/codecs.js';

const WIDE = { codec: 'linear', rate: 16_000 } as const;

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
