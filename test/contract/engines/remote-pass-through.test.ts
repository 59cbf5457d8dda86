/** Speech that a remote engine encodes itself is passed on byte for byte, and whatever needs samples is not. */
import { decode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway, startGateway } from '../../fixtures/gateway.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';
import { voiceId } from '../../../engines/voices.js';

const THREE = 'The lamps are here. **They** are green.\n\nGood night 🌙.';
const SPOKEN = 'The lamps are here. They are green.\n\nGood night.';

const other = await sharedGateway(t);
const remote = await remoteService(t);
const front = await startGateway({
  TTS_ENGINES: 'openai-compatible,native-compatible',
  STT_ENGINES: 'tone',
  REMOTE_OPENAI_URL: remote.url,
  REMOTE_OPENAI_VOICES: 'nova',
  REMOTE_OPENAI_RATE: '16000',
  REMOTE_OPENAI_PASS_THROUGH: 'mp3_44100_128,opus_48000',
  REMOTE_NATIVE_URL: remote.url,
  REMOTE_NATIVE_VOICES: 'kai',
  REMOTE_NATIVE_RATE: '16000',
  REMOTE_NATIVE_PASS_THROUGH: 'mp3_44100_128,mp3_32000_64',
});
t.teardown(() => front.stop());

const NOVA = voiceId('openai-compatible', 'nova');
const KAI = voiceId('native-compatible', 'kai');

type Body = Readonly<Record<string, unknown>>;

const posted = async (
  { base, authorization }: Pick<typeof front, 'base' | 'authorization'>,
  body: Body,
  path = '/v1/tts',
) => {
  const response = await fetch(`${base}${path}`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    body: Buffer.from(await response.arrayBuffer()),
  };
};
/** As our own encoder makes it. */
const made = async (body: Body): Promise<Buffer> =>
  (await posted(other, { text: 'Hello there.', ...body }, '/v1/tts')).body;

const MP3 = await made({ format: 'mp3' });
const OPUS = await made({ format: 'opus' });
const LOW = await made({ format: 'mp3', sample_rate: 32_000, mp3_bitrate: 64 });
const PCM = Buffer.from(new Int16Array(16_000).fill(300).buffer);

/** The service answers in the format that it is asked for; what it was asked. */
async function spoken(body: Body, answers: Readonly<Record<string, Buffer>>, path = '/v1/tts') {
  const from = remote.asked.length;
  remote.answers((response, sent, { url }) => {
    const asked =
      url === '/v1/tts'
        ? (decode(sent) as Body)['format']
        : (JSON.parse(sent.toString()) as Body)['response_format'];
    response.end(answers[String(asked)]);
  });
  const text = path === '/v1/tts' ? { text: 'Hello there.' } : {};
  const answer = await posted(front, { ...text, ...body }, path);
  const asked = remote.asked
    .slice(from)
    .map(({ url, body: sent }) => (url === '/v1/tts' ? decode(sent) : JSON.parse(sent.toString())) as Body);
  return { ...answer, asked };
}

t.test('mp3 and opus come as the service made them, and the whole text is one question', async (t) => {
  const answers = { mp3: MP3, opus: OPUS, pcm: PCM };
  for (const [format, file] of [
    ['mp3', MP3],
    ['opus', OPUS],
  ] as const) {
    const { status, type, body, asked } = await spoken({ text: THREE, format, reference_id: NOVA }, answers);
    t.equal(status, 200);
    t.equal(type, format === 'mp3' ? 'audio/mpeg' : 'audio/ogg');
    t.ok(body.equals(file), `${format} is passed on`);
    t.strictSame(
      asked.map(({ input, response_format }) => [input, response_format]),
      [[SPOKEN, format]],
    );
  }
  const byDefault = await spoken({ text: THREE, format: 'mp3' }, answers);
  t.ok(byDefault.body.equals(MP3), 'the default voice too, as long as one engine speaks all of it');
});

t.test('a service with our own API is asked for rate and bitrate', async (t) => {
  const body = {
    format: 'mp3',
    sample_rate: 32_000,
    mp3_bitrate: 64,
    reference_id: KAI,
    prosody: { speed: 1.5 },
  };
  const answer = await spoken(body, { mp3: LOW });
  t.ok(answer.body.equals(LOW));
  exactly(t, answer.asked[0], {
    format: 'mp3',
    sample_rate: 32_000,
    mp3_bitrate: 64,
    prosody: { speed: 1.5 },
  });
});

t.test('what needs samples is made of samples', async (t) => {
  const long = 'Lamps are here. '.repeat(LIMITS.remote.passedText / 16 + 1);
  const ways: Readonly<Record<string, Body>> = {
    'another bitrate than the service has': { format: 'mp3', mp3_bitrate: 192 },
    'a bitrate of opus': { format: 'opus', opus_bitrate: 64_000 },
    'a volume': { format: 'mp3', prosody: { volume: -6 } },
    'one loudness, as asked': { format: 'mp3', prosody: { normalize_loudness: true } },
    'a longer text': { format: 'mp3', text: long },
    'raw audio': { format: 'pcm', sample_rate: 16_000 },
  };
  for (const [what, body] of Object.entries(ways)) {
    const { status, asked } = await spoken({ reference_id: NOVA, ...body }, { pcm: PCM });
    t.equal(status, 200, what);
    t.ok(
      asked.length > 0 && asked.every((each) => (each['format'] ?? each['response_format']) === 'pcm'),
      what,
    );
  }
  const faster = await spoken(
    { model: 'tts-1', input: 'Hello.', voice: KAI, speed: 4 },
    { pcm: PCM },
    '/v1/audio/speech',
  );
  t.equal(faster.status, 200);
  exactly(t, faster.asked[0], { format: 'pcm', prosody: { speed: 2 } });
  const symbols = await spoken({ format: 'mp3', text: '🌙', reference_id: NOVA }, {});
  t.equal(symbols.status, 200);
  t.strictSame(symbols.asked, [], 'symbols are a silence of ours');
});

t.test('a service that answers otherwise than its setting says fails before a byte', async (t) => {
  const ways: Readonly<Record<string, Buffer>> = {
    'another rate and bitrate': LOW,
    'another codec': OPUS,
    'raw audio': PCM,
    nothing: Buffer.alloc(0),
    'less than a frame': MP3.subarray(0, 3),
  };
  for (const [what, file] of Object.entries(ways)) {
    const { status, type } = await spoken({ format: 'mp3', reference_id: NOVA }, { mp3: file });
    t.equal(status, 502, what);
    t.match(type, 'application/json');
  }
});

t.test('a tag before the first frame is part of the file', async (t) => {
  const tag = Buffer.concat([Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 2, 0]), Buffer.alloc(256)]);
  const file = Buffer.concat([tag, MP3]);
  t.ok((await spoken({ format: 'mp3', reference_id: NOVA }, { mp3: file })).body.equals(file));
});

t.test('remote speech keeps its loudness unless another is asked', async (t) => {
  const loudest = ({ body }: { readonly body: Buffer }): number =>
    new Int16Array(body.buffer, body.byteOffset, body.length >> 1).reduce(
      (most, each) => Math.max(most, each),
      0,
    );
  const asked = { format: 'pcm', sample_rate: 16_000, reference_id: NOVA };
  t.equal(loudest(await spoken(asked, { pcm: PCM })), 300);
  t.ok(loudest(await spoken({ ...asked, prosody: { normalize_loudness: true } }, { pcm: PCM })) > 600);
  t.equal(loudest(await spoken({ ...asked, prosody: { normalize_loudness: false } }, { pcm: PCM })), 300);
  const told = await spoken(
    { ...asked, reference_id: KAI, prosody: { normalize_loudness: true } },
    { pcm: PCM },
  );
  exactly(t, told.asked[0], { prosody: { normalize_loudness: true } });
});
