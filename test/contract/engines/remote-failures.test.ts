/**
 * A gateway whose remote voices fail: the errors of each protocol, on both HTTP stacks (an error frame or 502, never a
 * truncated 200).
 */
import type { ServerResponse } from 'node:http';
import { decode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { BASES, type Failure } from '../../fixtures/protocol-a/rest.js';
import { BASE, KEY } from '../../fixtures/protocol-b/rest.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';

type Answer = (response: ServerResponse) => void;

const remote = await remoteService(t);
const SECOND = Buffer.alloc(32_000, 1);
const empty: Answer = (response) => void response.end();
const breaking: Answer = (response) => {
  // Enough for a first byte of every format.
  response.write(Buffer.concat([SECOND, SECOND, SECOND]), () => setTimeout(() => response.destroy(), 200));
};

const onStack = async (stack: string) => {
  const gateway = await startGateway({
    HTTP_STACK: stack,
    TTS_ENGINES: 'native-compatible,tone',
    REMOTE_NATIVE_URL: remote.url,
    REMOTE_NATIVE_VOICES: 'ada,bob',
    REMOTE_NATIVE_RATE: '16000',
  });
  t.teardown(() => gateway.stop());
  return { stack, gateway };
};

for (const { stack, gateway } of await Promise.all(['uws', 'node'].map(onStack))) {
  const post = (path: string, body: object, headers: Record<string, string> = gateway.authorization) =>
    fetch(`${gateway.base}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const text = 'Hello there.';
  const nativeSpeech = () => post('/v1/tts', { text, format: 'pcm', sample_rate: 16_000 });
  const speechA = (base: string) => post(`${base}/audio/speech`, { model: 'tts-1', input: text, voice: '' });
  const speechB = (path: string) => post(`${BASE}/v1/text-to-speech/default${path}`, { text }, KEY);

  t.test(`${stack}: an empty answer of a voice is 502, and no other engine is asked`, async (t) => {
    remote.answers(empty);
    const before = remote.asked.length;
    const asked = [
      nativeSpeech(),
      post('/v1/tts/stream/with-timestamp', { text }),
      speechA(BASES[0]!),
      speechB(''),
      speechB('/stream/with-timestamps'),
    ];
    for (const response of await Promise.all(asked)) {
      t.equal(response.status, 502);
      t.match(await response.text(), /without audio/);
    }
    t.equal(remote.asked.length, before + asked.length);
  });

  t.test(`${stack}: an answer that breaks off is never a truncated 200`, async (t) => {
    remote.answers(breaking);
    const cut = await nativeSpeech();
    // If the failure arrived together with the first bytes, nothing has been sent yet.
    if (cut.status === 502) exactly(t, await cut.json(), { status: 502 });
    else await t.rejects(cut.arrayBuffer(), 'the connection is destroyed');
    const lines = await speechB('/stream/with-timestamps?output_format=pcm_16000');
    t.equal(lines.status, 200);
    const said = (await lines.text()).trimEnd().split('\n');
    t.ok(said.length > 1);
    exactly(t, JSON.parse(said.at(-1)!), { detail: { code: 'provider_failed', status: 'provider_failed' } });
    t.notOk(said.slice(0, -1).some((line) => line.includes('"detail"')));
    const whole = await speechB('/with-timestamps?output_format=pcm_16000');
    t.equal(whole.status, 502);
    exactly(t, await whole.json(), { detail: { code: 'provider_failed' } });
  });

  t.test(`${stack}: a key of ours that a voice refuses is no fault of the client's`, async (t) => {
    for (const status of [401, 403, 407]) {
      remote.answers((response) => void response.writeHead(status).end('{"message": "Invalid Token"}'));
      const asked = [
        nativeSpeech(),
        post('/v1/tts/stream/with-timestamp', { text }),
        ...BASES.map(speechA),
        ...['', '/stream', '/with-timestamps', '/stream/with-timestamps'].map(speechB),
      ];
      for (const response of await Promise.all(asked)) {
        t.equal(response.status, 502);
        t.equal(response.headers.get('www-authenticate'), null);
        t.match(await response.text(), /does not accept this gateway/);
      }
    }
  });

  t.test(`${stack}: a voice's 429 is the provider's, with the time to wait`, async (t) => {
    for (const wait of [{}, { 'retry-after': '9' }]) {
      remote.answers((response) => void response.writeHead(429, wait).end());
      for (const base of BASES) {
        const response = await speechA(base);
        t.equal(response.status, 429);
        t.equal(response.headers.get('retry-after'), wait['retry-after'] ?? '1');
        const { error } = (await response.json()) as { error: Failure };
        exactly(t, error, { code: 429, type: 'provider_error', metadata: { provider_name: 'svc' } });
      }
      t.equal((await nativeSpeech()).headers.get('retry-after'), wait['retry-after'] ?? '1');
    }
  });

  t.test(
    `${stack}: several voices, their tags and the client's options go to a service that knows them`,
    async (t) => {
      remote.answers((response) => void response.end(SECOND));
      const voices = (await (
        await fetch(`${gateway.base}/model`, { headers: gateway.authorization })
      ).json()) as {
        items: { _id: string; title: string }[];
      };
      const idOf = (title: string) => voices.items.find((voice) => voice.title === title)!._id;
      const conversation = '<|speaker:0|>(happy) Hello Bob. How are you? <|speaker:1|>Fine, Ada. Thank you.';
      const response = await post('/v1/tts', {
        text: conversation,
        reference_id: [idOf('ada'), idOf('bob')],
        latency: 'balanced',
        chunk_length: 150,
        normalize: false,
      });
      t.equal(response.status, 200);
      await response.arrayBuffer();
      const pieces = remote.asked.slice(-4).map(({ body }) => decode(body) as Record<string, unknown>);
      exactly(t, pieces[0], {
        reference_id: ['ada', 'bob'],
        latency: 'balanced',
        chunk_length: 150,
        normalize: false,
      });
      t.same(
        pieces.map((piece) => piece['text']),
        [
          '<|speaker:0|>(happy) Hello Bob.',
          '<|speaker:0|>How are you?',
          '<|speaker:1|>Fine, Ada.',
          '<|speaker:1|>Thank you.',
        ],
        'each piece says who speaks it',
      );
      const unknown = await post('/v1/tts', { text, reference_id: [idOf('ada'), 'nobody'] });
      exactly(t, await unknown.json(), { status: 400, message: /^Reference not found: no voice "nobody"/ });
      const mixed = await post('/v1/tts', { text, reference_id: [idOf('ada'), idOf('Tone (for tests)')] });
      exactly(t, await mixed.json(), { status: 400, message: /several voices/ });
      for (const wrong of [[], ['a b'], Array(17).fill(idOf('ada'))])
        t.equal((await post('/v1/tts', { text, reference_id: wrong })).status, 400);
    },
  );
}
