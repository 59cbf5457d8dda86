/** Containers of uploads, known by their bytes. */
import t from '../../../fixtures/tap.js';
import { headIn } from '../../../../codecs/decode/file-head.js';
import { sniff } from '../../../../codecs/decode/sniff.js';
import { fixture, TONE_FILES } from '../../../fixtures/codecs/audio.js';

const sniffed = (file: Uint8Array): string | undefined => sniff(headIn(file));

t.test('containers are known by their bytes', (t) => {
  const expected = ['wav', 'mp3', 'mp4', 'aac', 'ogg', 'ogg', 'webm', 'flac'];
  t.same(
    TONE_FILES.map((name) => sniffed(fixture(name))),
    expected,
  );
  const id3 = Uint8Array.from([...Buffer.from('ID3'), 4, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0]);
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.mp3')])), 'mp3', 'ID3 before MP3');
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.flac')])), 'flac', 'ID3 before FLAC');
  t.equal(sniffed(Buffer.concat([id3, fixture('tone.aac')])), 'aac', 'ID3 before ADTS');
  const cut = fixture('tone.mp3').subarray(1000);
  t.equal(sniffed(cut), 'mp3', 'an MP3 from the middle of a frame on');
  t.equal(sniffed(Buffer.concat([Buffer.alloc(60_000), cut])), 'mp3', 'an MP3 behind zeros');
  t.equal(sniffed(Buffer.concat([Buffer.alloc(70_000), cut])), undefined, 'too many zeros');
  t.end();
});

const STRANGERS: Record<string, string | Uint8Array> = {
  empty: '',
  'one byte': '\xff',
  text: 'hello, this is not audio at all',
  'HTML page': '<!doctype html><html></html>',
  'HLS playlist': '#EXTM3U\n#EXT-X-TARGETDURATION:10\nhttp://169.254.169.254/latest\n',
  'concat script': "ffconcat version 1.0\nfile '/etc/passwd'\n",
  'PLS playlist': '[playlist]\nFile1=http://localhost/\n',
  'DASH manifest': '<?xml version="1.0"?><MPD></MPD>',
  SDP: 'v=0\no=- 0 0 IN IP4 127.0.0.1\nc=IN IP4 127.0.0.1\n',
  PNG: '\x89PNG\r\n\x1a\n',
  JPEG: '\xff\xd8\xff\xe0\x00\x10JFIF',
  ZIP: 'PK\x03\x04',
  'big-endian WAV': 'RIFX\x00\x00\x00\x00WAVEfmt ',
  'one packet of a transport stream': `G${'\x00'.repeat(187)}`,
  'one frame of LATM': 'V\xe0\x02\x00\x00\x00\x00\x00',
  'ID3 tag alone': 'ID3\x04\x00\x00\x00\x00\x00\x00',
  'ID3 tag longer than the file': 'ID3\x04\x00\x00\x7f\x7f\x7f\x7fabc',
  'all ones': new Uint8Array(64).fill(0xff),
  'headers of frames that do not follow one another': Buffer.from(
    '00fffb90'.padEnd(800, '0').repeat(100),
    'hex',
  ),
};

for (const [name, bytes] of Object.entries(STRANGERS)) {
  t.test(`no container: ${name}`, (t) => {
    t.equal(sniffed(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes), undefined);
    t.end();
  });
}
