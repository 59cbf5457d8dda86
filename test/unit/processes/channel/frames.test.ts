/** Frames of the channel between processes. */
import t from '../../../fixtures/tap.js';
import {
  decodeFrame,
  encodeFrame,
  FRAME_BYTES,
  FrameReader,
  HEADER_BYTES,
  KIND,
  writeLength,
  type ChannelFrame,
} from '../../../../processes/channel/frames.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const onWire = (frame: ChannelFrame): Uint8Array => {
  const body = encodeFrame(frame);
  const bytes = new Uint8Array(HEADER_BYTES + body.length);
  writeLength(bytes, 0, body.length);
  bytes.set(body, HEADER_BYTES);
  return bytes;
};

t.test('frames come out whole however the socket cuts them', (t) => {
  const frames: ChannelFrame[] = [
    [KIND.open, 1, { job: 'a', args: { text: 'héllo', n: 1.5 }, input: true }],
    [KIND.data, 1, new Uint8Array(300).fill(7)],
    [KIND.end, 1],
  ];
  const all = Buffer.concat(frames.map(onWire));
  for (let size = 1; size <= all.length; size += 1) {
    const seen: ChannelFrame[] = [];
    const reader = new FrameReader((frame) => seen.push(frame));
    for (let at = 0; at < all.length; at += size) reader.push(all.subarray(at, at + size));
    if (seen.length !== 3) t.fail(`chunks of ${size} bytes gave ${seen.length} frames`);
    if (size % 50 === 1) t.same(seen, frames, `chunks of ${size} bytes`);
  }
  t.end();
});

t.test('binary that comes out is the receiver’s own, aligned and exactly as long', (t) => {
  const chunk = onWire([
    KIND.data,
    9,
    { kind: 'audio', samples: new Int16Array([1, -2, 3]), list: [new Uint8Array(2)] },
  ]);
  let value: { samples: Uint8Array; list: Uint8Array[] } | undefined;
  new FrameReader((frame) => (value = frame[2] as typeof value)).push(chunk);
  chunk.fill(255);
  const { samples, list } = value ?? (t.fail('no frame') as never);
  t.equal(samples.constructor, Uint8Array);
  t.same([...new Int16Array(samples.buffer)], [1, -2, 3]);
  t.equal(list[0]?.buffer.byteLength, 2);
  t.end();
});

t.test('invalid frames are refused', (t) => {
  const reader = (): FrameReader => new FrameReader(() => t.fail('took it for a frame'));
  const long = new Uint8Array(HEADER_BYTES);
  writeLength(long, 0, FRAME_BYTES + 1);
  t.throws(() => reader().push(long), RangeError, 'a length over the limit');
  t.throws(() => reader().push(new Uint8Array(HEADER_BYTES)), RangeError, 'an empty frame');
  t.throws(() => reader().push(Buffer.from('GET / HTTP/1.1\r\n\r\n')), RangeError, 'another protocol');
  t.throws(() => decodeFrame(new Uint8Array([0x91, 0x02])), /not a frame/, 'an array that is too short');
  t.throws(() => decodeFrame(new Uint8Array([0x92, 0x02, 0xff])), /not a frame/, 'a negative stream');
  t.throws(
    () => decodeFrame(new Uint8Array([0x92, 0x02, 0x01, 0x00])),
    /Extra 1 of 4/,
    'bytes behind the frame',
  );
  t.throws(
    () => decodeFrame(new Uint8Array([0xdd, 0xff, 0xff, 0xff, 0xff])),
    /array length \(4294967295\)/,
    'an array that claims 4 billion items',
  );
  t.end();
});

t.test('a value that is too large or cannot be sent is refused with a clear error', (t) => {
  const large = [KIND.data, 1, new Uint8Array(FRAME_BYTES)] as const;
  throwsExactly(t, () => encodeFrame(large), {
    code: 'engine_failed',
    message: /over the limit of 8388608 bytes/,
  });
  throwsExactly(t, () => encodeFrame([KIND.data, 1, () => 1]), {
    code: 'engine_failed',
    message: /cannot be sent/,
  });
  t.same(decodeFrame(encodeFrame([KIND.end, 4])), [KIND.end, 4], 'and the next frame is fine');
  t.end();
});
