/** WebM files whose clock is the number of their samples, and those that node-av has to look at (codecs/decode/plain-webm.ts). */
import t from '../../../fixtures/tap.js';
import { isPlainWebm } from '../../../../codecs/decode/plain-webm.js';
import { fixture } from '../../../fixtures/codecs/audio.js';
import { seeded } from '../../../fixtures/random.js';

/** An element with a length of two bytes. */
function element(id: string, content: Buffer | number): Buffer {
  const bytes = typeof content === 'number' ? Buffer.from([content >> 8, content & 0xff]) : content;
  return Buffer.concat([
    Buffer.from(id, 'hex'),
    Buffer.from([0x40 | (bytes.length >> 8), bytes.length & 0xff]),
    bytes,
  ]);
}

const UNKNOWN_LENGTH = Buffer.from('01ffffffffffffff', 'hex');

const track = (type = 2, codec = 'A_OPUS'): Buffer =>
  element('ae', Buffer.concat([element('d7', 1), element('83', type), element('86', Buffer.from(codec))]));

/** A packet of 20 ms, `at` ms after its cluster began. */
function block(at: number, { flags = 0x80, head = 0x78, track = 0x81 } = {}): Buffer {
  const content = Buffer.from([track, 0, 0, flags, head, 1, 2, 3]);
  content.writeInt16BE(at, 1);
  return element('a3', content);
}

const INFORMATION = element('1549a966', element('2ad7b1', Buffer.from('0f4240', 'hex')));

interface Parts {
  readonly tracks?: readonly Buffer[];
  readonly information?: Buffer;
  readonly begin?: number;
  readonly blocks?: readonly Buffer[];
}

const TIMES = Array.from({ length: 50 }, (_, at) => at * 20);

function webm({
  tracks = [track()],
  information = INFORMATION,
  begin = 0,
  blocks = TIMES.map((at) => block(at)),
}: Parts = {}): Buffer {
  return Buffer.concat([
    element('1a45dfa3', Buffer.from('webm')),
    Buffer.concat([Buffer.from('18538067', 'hex'), UNKNOWN_LENGTH]),
    information,
    element('1654ae6b', Buffer.concat(tracks)),
    Buffer.concat([Buffer.from('1f43b675', 'hex'), UNKNOWN_LENGTH, element('e7', begin), ...blocks]),
  ]);
}

const PLAIN: Record<string, Buffer> = {
  'packets of 20 ms': webm(),
  'one that began late': webm({ begin: 9000 }),
  'without a scale of its times': webm({ information: Buffer.alloc(0) }),
  'times that are rounded': webm({ blocks: TIMES.map((at, index) => block(at + (index % 3) - 1)) }),
  'packets of 60 ms': webm({ blocks: TIMES.map((at) => block(at * 3, { head: 0x18 })) }),
  'packets of three frames': webm({
    blocks: TIMES.map((at) =>
      element('a3', Buffer.from([0x81, (at * 3) >> 8, (at * 3) & 0xff, 0, 0x7b, 3, 2, 1])),
    ),
  }),
  'a block in a group': webm({
    blocks: TIMES.map((at) => element('a0', Buffer.from(block(at)).fill(0xa1, 0, 1))),
  }),
  'one that was cut short': webm().subarray(0, -5),
};

const OTHER: Record<string, Buffer> = {
  'a pause': webm({ blocks: TIMES.map((at) => block(at < 500 ? at : at + 2000)) }),
  'lost packets that add up': webm({ blocks: TIMES.map((at) => block(at + Math.floor(at / 100) * 20)) }),
  'two tracks': webm({ tracks: [track(), track()] }),
  video: webm({ tracks: [track(), track(1, 'V_VP8')] }),
  'another codec': webm({ tracks: [track(2, 'A_VORBIS')] }),
  'another scale of its times': webm({
    information: element('1549a966', element('2ad7b1', Buffer.from('989680', 'hex'))),
  }),
  'laced packets': webm({ blocks: TIMES.map((at) => block(at, { flags: 0x82 })) }),
  'a track number of two bytes': webm({ blocks: TIMES.map((at) => block(at, { track: 0x40 })) }),
  'no packets': webm({ blocks: [] }),
  'no tracks': webm({ tracks: [] }),
  'more elements than are looked at': webm({ blocks: Array.from({ length: 20_001 }, () => block(0)) }),
  nothing: Buffer.alloc(0),
  'a head that is cut short': webm().subarray(0, 30),
};

t.test('plain ones', async (t) => {
  for (const [name, file] of Object.entries(PLAIN)) t.equal(await isPlainWebm(file, 'webm'), true, name);
  t.equal(await isPlainWebm(webm(), 'mp4'), false, 'other containers are not looked at');
});

t.test('others', async (t) => {
  for (const [name, file] of Object.entries(OTHER)) t.equal(await isPlainWebm(file, 'webm'), false, name);
  t.equal(
    await isPlainWebm(Buffer.concat([webm(), Buffer.alloc(4 * 1024 * 1024)]), 'webm'),
    false,
    'a large one',
  );
  t.equal(await isPlainWebm(fixture('pause.webm'), 'webm'), false, "a browser's, with a pause");
});

t.test('bytes at random never throw', async (t) => {
  const random = seeded(5);
  const whole = webm();
  let plain = 0;
  for (let round = 0; round < 3000; round += 1) {
    const file = Buffer.from(whole.subarray(0, Math.floor(random() * (whole.length + 1))));
    for (let flips = Math.floor(random() * 4); flips > 0 && file.length > 0; flips -= 1)
      file[Math.floor(random() * file.length)] = Math.floor(random() * 256);
    if (await isPlainWebm(file, 'webm')) plain += 1;
  }
  t.ok(plain > 100, `${plain} of them are plain`);
});
