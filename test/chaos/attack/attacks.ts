/**
 * What strangers and tenants try, row by row of the review that named them (X1 to X10), and at doors that came later (X12 to X15). Each
 * row is run beside a victim of another workspace (main.ts); `size` 1 is the whole attack, a fraction of it the short form.
 */
import { encode } from '@msgpack/msgpack';
import { LIMITS } from '../../../contracts/limits.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { type Attack, bearer, JSON_TYPE, KiB, manyMembers, MiB, ORIGIN, REST_MS, sized } from './attack.js';
import { agentAttacks } from './agent-attacks.js';
import { phoneSockets, phoneWebhooks } from './phone-attacks.js';
import { ask, flood, listen, repeated, sendFrames, stall } from './senders.js';
import type { Target } from './target.js';
import { count } from './told.js';

/** Protocol B. */
const B = '/compat/elevenlabs/v1';
const queries: Attack = {
  name: 'X1 long queries and heads',
  allowed: [400, 401, 403, 404, 405, 413, 414, 429, 431],
  seconds: 1,
  atOnce: 4,
  async run({ base }, told, size) {
    const query = Array.from({ length: 4000 }, (_, at) => at.toString(36)).join('&');
    const paths = [
      '/v1/phone/vonage/answer',
      '/v1/voices',
      `${B}/text-to-speech/x/stream-input`,
      '/v1/nothing',
    ];
    await flood(sized(40, size), 4, (turn) => ask(told, `${base}${paths[turn % paths.length]}?${query}`, {}));
  },
};

interface Pieces {
  readonly short?: true;
  /** Whose key it is; the attacker's of speech by default. */
  readonly key?: (target: Target) => Promise<string>;
}

/** A socket of small pieces, each with more overhead than payload. */
const pieces = (
  name: string,
  path: string,
  first: readonly (string | Uint8Array)[],
  frame: string | Uint8Array,
  { short, key = ({ keys }) => Promise.resolve(keys.speech) }: Pieces = {},
): Attack => ({
  name: `X2 ${name}`,
  ...(short && { short }),
  // 429: the next socket after one that was closed for its frames.
  allowed: ['stayed open', 429, 1000, 1008, 1009, 1011, 1013],
  seconds: 30,
  atOnce: 4,
  async run(target, told, size) {
    function* frames(): Generator<string | Uint8Array> {
      yield* first;
      yield* repeated(frame, sized(300_000, size));
    }
    const opened = { path, key: await key(target), frames: frames(), restMs: REST_MS };
    await sendFrames(told, target.base, opened);
  },
});

const appended = (audio: string): string => JSON.stringify({ type: 'input_audio_buffer.append', audio });

/** What a tenant's page has: a client secret. */
async function clientSecret({ base, keys }: Target): Promise<string> {
  const url = `${base}/v1/realtime/client_secrets`;
  const headers = { ...bearer(keys.full), ...JSON_TYPE };
  const answer = await fetch(url, { method: 'POST', headers, body: '{}' });
  if (!answer.ok) throw new Error(`a client secret: ${answer.status}`);
  return ((await answer.json()) as { readonly value: string }).value;
}

const smallPieces: readonly Attack[] = [
  pieces('A realtime, a blank', '/v1/realtime', [], appended('AAA= '), { short: true }),
  pieces('A realtime, a client secret', '/v1/realtime', [], appended('AAA= '), { key: clientSecret }),
  pieces('A realtime, data:', '/v1/realtime', [], appended('data:audio/pcm;base64,AAA=')),
  pieces('A realtime, base64', '/v1/realtime', [], appended('AAA=')),
  pieces(
    'B realtime',
    `${B}/speech-to-text/realtime?audio_format=pcm_16000&commit_strategy=manual`,
    [],
    JSON.stringify({
      message_type: 'input_audio_chunk',
      audio_base_64: 'AAA= ',
      commit: false,
      sample_rate: 16_000,
    }),
  ),
  pieces(
    'B stream-input text',
    `${B}/text-to-speech/default/stream-input`,
    [JSON.stringify({ text: ' ' })],
    JSON.stringify({ text: 'a' }),
  ),
  pieces(
    'B multi-stream-input text',
    `${B}/text-to-speech/default/multi-stream-input`,
    [JSON.stringify({ text: ' ' })],
    JSON.stringify({ text: 'a' }),
  ),
  ...['live', 'live/with-timestamp'].map((name) =>
    pieces(
      `native ${name} text`,
      `/v1/tts/${name}`,
      [encode({ event: 'start', request: { text: '', format: 'pcm' } })],
      encode({ event: 'text', text: 'a' }),
    ),
  ),
];

const uploads: Attack = {
  name: 'X3 fifty uploads',
  // Four hours of speech take longer than anybody waits.
  allowed: [200, 429, 503, 'no answer'],
  seconds: 60,
  atOnce: 50,
  async run({ base, keys }, told, size) {
    const { wavHeader } = await import('../../../codecs/wav.js');
    const wav = Buffer.concat([wavHeader(16_000), Buffer.alloc(sized(300, size) * 32_000, 7)]);
    await flood(sized(50, size), 50, async () => {
      const body = new FormData();
      body.set('audio', new File([wav], 'a.wav', { type: 'audio/wav' }));
      await ask(told, `${base}/v1/asr`, { method: 'POST', headers: bearer(keys.speech), body });
    });
  },
};

const stalled = (kind: string, path: string, type: string, first: string, short?: true): Attack => ({
  name: `X4 stalled ${kind}`,
  ...(short && { short }),
  allowed: [400, 408, 413, 429, 503, 'no answer'],
  // 4 GB that are read and spooled.
  seconds: 40,
  atOnce: 36,
  async run({ base, keys }, told, size) {
    const head = [`POST ${path} HTTP/1.1`, `Authorization: Bearer ${keys.speech}`, `Content-Type: ${type}`];
    const one = () =>
      stall(told, base, { head, first, bytes: sized(120, size) * MiB, stallMs: 5 * REST_MS * size });
    await Promise.all(Array.from({ length: sized(36, Math.sqrt(size)) }, one));
  },
});

const PART = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n';
const bodies: readonly Attack[] = [
  stalled('multipart, A', '/v1/audio/transcriptions', 'multipart/form-data; boundary=x', `\r\n${PART}`, true),
  stalled('multipart, B', `${B}/speech-to-text`, 'multipart/form-data; boundary=x', `\r\n${PART}`),
  stalled('multipart, native', '/v1/asr', 'multipart/form-data; boundary=x', `\r\n${PART}`),
  stalled('JSON', '/v1/audio/transcriptions', 'application/json', '\r\n{"input_audio":{"data":"'),
  stalled('JSON speech', '/v1/tts', 'application/json', '\r\n{"text":"'),
];

/** Three letters, so that a question holds hundreds of them; none is a word that a search leaves out. */
const wordOf = (at: number): string =>
  [at / 676, (at / 26) % 26, at % 26].map((letter) => String.fromCharCode(97 + Math.floor(letter))).join('');

const searches: Attack = {
  name: 'X5 searches of as many words as a question holds',
  allowed: [200, 429, 503],
  seconds: 30,
  atOnce: 25,
  async run({ base, keys, attacker }, told, size) {
    const words = Array.from({ length: 5000 }, (_, at) => wordOf(at));
    const ids: unknown[] = [];
    for (let source = 0; source < sized(20, size); source += 1) {
      const content = Array.from({ length: 70_000 }, (_, at) => words[(at * 7919 + source) % words.length]);
      const text = content.join(' ').slice(0, 280_000);
      const form = new FormData();
      form.set('source', new File([text], `s${source}.md`, { type: 'text/markdown' }));
      const made = await fetch(`${base}/v1/agent/knowledge-sources`, {
        method: 'POST',
        headers: bearer(keys.full),
        body: form,
      });
      if (made.status === 201) ids.push(((await made.json()) as Body)['knowledge_source_id']);
      else count(told, made.status);
    }
    const config = { knowledge_base: { knowledge_source_ids: ids.slice(0, 20) } };
    const agent = await attacker('agents', { body: { name: 'Knows', config } });
    const url = `${base}/v1/agent/agents/${String(agent.body['agent_id'])}/knowledge/search`;
    const body = JSON.stringify({ query: words.join(' ').slice(0, LIMITS.knowledge.query) });
    const headers = { ...bearer(keys.read), ...JSON_TYPE };
    await flood(sized(100, size), 100, () => ask(told, url, { method: 'POST', headers, body }));
  },
};

const plans: Attack = {
  name: 'X6 an oversize plan, and public sessions',
  allowed: [201, 413, 422, 429, 503],
  seconds: 30,
  atOnce: 20,
  async run({ base, attacker }, told, size) {
    const long = (length: number) => 'x'.repeat(length);
    const tool: Body = {
      name: 'T',
      url: 'https://example.com/',
      body_template: long(100_000),
      headers: Array.from({ length: 50 }, (_, at) => ({ name: `h${at}`, kind: 'custom', value: long(4000) })),
    };
    const tools: unknown[] = [];
    const fitting = Math.floor(LIMITS.agent.planBytes / JSON.stringify(tool).length);
    // One more than a plan holds is refused, and then the largest that is taken.
    for (let turn = 0; turn <= sized(fitting, size); turn += 1) {
      const made = await attacker('tools', { body: tool });
      if (made.status === 201) tools.push(made.body['tool_id']);
      else count(told, made.status);
    }
    const made = await attacker('agents', {
      body: { name: 'Large', config: { tools: { tool_ids: tools } } },
    });
    const agent = String(made.body['agent_id']);
    const publish = () => attacker(`agents/${agent}/publish`, { method: 'POST' });
    if ((await publish()).status === 200 && size === 1) count(told, 'a plan above its limit was taken');
    const fewer = { tools: { tool_ids: tools.slice(2) } };
    await attacker(`agents/${agent}/config`, { method: 'PATCH', body: fewer });
    const change = { public_enabled: true, allowed_origins: [ORIGIN.origin] };
    await attacker(`agents/${agent}`, { method: 'PATCH', body: change });
    const published = await publish();
    if (published.status !== 200) count(told, `the largest plan: ${JSON.stringify(published.body)}`);
    const body = JSON.stringify({ agent_id: agent });
    const url = `${base}/v1/agent/sessions`;
    await flood(sized(100, size), 100, () => ask(told, url, { method: 'POST', headers: ORIGIN, body }));
  },
};

const floods: readonly Attack[] = [
  {
    name: 'X9 frames of 99,000 members before a key',
    short: true,
    allowed: [1000, 1008, 1009, 1011, 'ECONNRESET', 1006],
    seconds: 4,
    atOnce: 5,
    async run({ base }, told, size) {
      const frame = manyMembers({ text: ' ' }, 99_000);
      const path = `${B}/text-to-speech/default/stream-input`;
      await flood(sized(25, size), 5, () =>
        sendFrames(told, base, { path, frames: repeated(frame, 5), restMs: REST_MS }),
      );
    },
  },
  {
    name: 'X9 the interface description',
    allowed: [200, 304, 429, 503],
    seconds: 2,
    atOnce: 40,
    run: ({ base }, told, size) => flood(sized(200, size), 40, () => ask(told, `${base}/openapi.json`, {})),
  },
  {
    name: 'X9 sessions with 9,900 members',
    short: true,
    allowed: [400, 413, 422, 429],
    seconds: 2,
    atOnce: 10,
    async run({ base, agent }, told, size) {
      const body = JSON.stringify({ agent_id: agent, metadata: JSON.parse(manyMembers({}, 9900)) as object });
      const url = `${base}/v1/agent/sessions`;
      await flood(sized(100, size), 10, () => ask(told, url, { method: 'POST', headers: ORIGIN, body }));
    },
  },
];

/** One sentence of a whole body, in a script of one or two bytes a character, is spoken as long as its client listens. */
const longSentence = (name: string, first: string): Attack => ({
  name: `X10 one sentence of the largest length, ${name}`,
  allowed: [200, 400, 413, 422, 429, 503],
  seconds: 6,
  atOnce: 1,
  async run({ base, keys }, told, size) {
    const length = sized(LIMITS.body.nativeSynthesis - KiB, size);
    const body = JSON.stringify({ text: first + 'a'.repeat(length), format: 'pcm' });
    const headers = { ...bearer(keys.speech), ...JSON_TYPE };
    await listen(told, `${base}/v1/tts`, { method: 'POST', headers, body }, REST_MS);
  },
});

const worstTexts: readonly Attack[] = [
  longSentence('Latin', 'a'),
  longSentence('a letter of another script', 'п'),
  {
    name: 'X10 a form of strings',
    short: true,
    allowed: [400, 413, 422, 429, 503],
    seconds: 6,
    atOnce: 1,
    async run({ base, keys }, told, size) {
      const strings = '"a",'.repeat((sized(120, size) * MiB) / 4);
      const body = `{"input_audio":[${strings}"a"]}`;
      await ask(told, `${base}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { ...bearer(keys.speech), ...JSON_TYPE },
        body,
      });
    },
  },
];

export const ATTACKS: readonly Attack[] = [
  ...[...phoneWebhooks, queries, ...smallPieces, uploads, ...bodies, searches, plans],
  ...[...phoneSockets, ...floods, ...worstTexts, ...agentAttacks],
];
