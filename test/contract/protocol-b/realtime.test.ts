/** Protocol B's realtime transcription over real sockets, on both adapters, with the tone engine (exact). */
import type { Test } from 'tap';
import type { Stack } from '../../../gateway/server/listen.js';
import t from '../../fixtures/tap.js';
import { bytesOf } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ERRORS, ServiceError } from '../../../contracts/errors.js';
import { eachStarted, type EdgeServer, startEdge } from '../../fixtures/edge/edge.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';
import { admits, Client, KEY, routeOf, tones } from '../../fixtures/protocol-b/realtime-client.js';

const TEXT = 'One, two — three. 日本語!';

/** What the cases share, on one of the adapters. */
async function start(t: Test, stack: Stack) {
  const server: EdgeServer = await startEdge(stack, [], { sockets: [routeOf()] });
  const clients: Client[] = [];
  const connect = (...args: [query?: string, headers?: Record<string, string>]): Client => {
    const client = new Client(server.base, ...args);
    clients.push(client);
    return client;
  };
  const forget = (): void => {
    for (const client of clients.splice(0)) client.socket.terminate();
    admits.next = undefined;
  };
  t.teardown(() => {
    forget();
    return server.close();
  });

  return { stack, connect, forget };
}

const onEach = await eachStarted(t, start);

onEach('session_started comes at once, with what is in force', async (t, { connect }) => {
  const client = connect('?model_id=scribe_v2_realtime&audio_format=pcm_24000&language_code=en');
  exactly(t, await client.sees('session_started'), {
    session_id: /^gen-/,
    config: {
      sample_rate: 24_000,
      audio_format: 'pcm_24000',
      language_code: 'en',
      commit_strategy: 'manual',
      model_id: 'svc/transcribe-1',
      enable_logging: true,
      include_timestamps: false,
    },
  });
});

onEach('words that are expected are repeated, and take the place of what is near', async (t, { connect }) => {
  const client = connect('?keyterms=Kathryn%20Schmitt&keyterms=OpenClaw');
  exactly(t, await client.sees('session_started'), {
    config: { keyterms: ['Kathryn Schmitt', 'OpenClaw'] },
  });
  client.speak(await tones('This is Katherin Schmid.')).commit();
  exactly(t, await client.sees('committed_transcript'), { text: 'This is Kathryn Schmitt.' });
});

onEach(
  'each commit is heard, in order, and only the plain frame where nothing else was asked for',
  async (t, { connect }) => {
    const client = connect();
    await client.sees('session_started');
    const texts = [TEXT, 'second', 'third'];
    for (const text of texts) client.speak(await tones(text)).commit();
    await client.sees('committed_transcript', 3);
    t.strictSame(client.of('committed_transcript'), texts.map((text) => ({ message_type: 'committed_transcript', text }))); // oxfmt-ignore
    t.equal(client.of('committed_transcript_with_timestamps').length, 0);
    client.send({ message_type: 'commit' });
    exactly(t, await client.sees('commit_throttled'), { error: /only 0\.00s of uncommitted audio/ });
    t.equal(client.close, undefined);
    await until('no slot is held', () => admits.running === 0);
  },
);

onEach('words with their times follow where they were asked for', async (t, { connect }) => {
  const client = connect('?include_timestamps=true&language_code=eng');
  await client.sees('session_started');
  client.speak(joined(silence(1), await tones(TEXT))).commit();
  const { words, ...timed } = await client.sees('committed_transcript_with_timestamps');
  exactly(t, timed, { text: TEXT, language_code: 'eng' });
  t.strictSame(
    client.frames.map(({ message_type }) => message_type).filter((type) => type.startsWith('committed')),
    ['committed_transcript', 'committed_transcript_with_timestamps'],
  );
  const entries = words as Record<string, unknown>[];
  t.equal(entries.map(({ text }) => text).join(''), TEXT);
  t.ok(entries.every(({ start, end }) => typeof start === 'number' && typeof end === 'number'));
  exactly(t, entries[0], {
    text: 'One,',
    type: 'word',
    speaker_id: null,
    logprob: 0,
    characters: [...'One,'],
  });
  t.ok(Number(entries[0]?.['start']) > 0.9);
  exactly(t, entries[1], { text: ' ', type: 'spacing' });

  const detecting = connect('?include_language_detection=true');
  await detecting.sees('session_started');
  detecting.speak(await tones('x')).commit();
  exactly(t, await detecting.sees('committed_transcript_with_timestamps'), {
    text: 'x',
    language_code: '',
    words: null,
  });
});

onEach(
  'words of later commits are timed from the start of the session, as clients lay them out',
  async (t, { connect }) => {
    const client = connect('?include_timestamps=true');
    await client.sees('session_started');
    const spoken = joined(silence(1), await tones('word'), silence(0.5));
    const starts: number[] = [];
    for (let commit = 1; commit <= 3; commit++) {
      client.speak(spoken).commit();
      const { words } = await client.sees('committed_transcript_with_timestamps', commit);
      starts.push((words as { start: number }[])[0]?.start ?? NaN);
    }
    const [first = NaN] = starts;
    t.ok(first > 0.9);
    const seconds = spoken.length / 16_000;
    starts.forEach((start, commit) => t.ok(Math.abs(start - first - commit * seconds) < 0.01, `${start}`));
  },
);

onEach('partials come while audio arrives, and cost nothing', async (t, { connect }) => {
  const client = connect();
  await client.sees('session_started');
  const before = admits.used;
  client.speak(joined(await tones('one'), silence(0.5), await tones('two'), silence(1)));
  const last = await until('both words are guessed', () =>
    client.of('partial_transcript').find(({ text }) => text === 'one two'),
  );
  t.same(last, { message_type: 'partial_transcript', text: 'one two' });
  t.equal(admits.used, before);
  client.commit();
  exactly(t, await client.sees('committed_transcript'), { text: 'one two' });
  t.ok(admits.used > before);
  client.speak(joined(await tones('three'), silence(1)));
  await until(
    'the next segment starts anew',
    () => client.of('partial_transcript').at(-1)?.['text'] === 'three',
  );
});

onEach('other rates, and chunks that end inside a sample', async (t, { connect }) => {
  const samples = await tones(TEXT);
  const doubled = new Int16Array(samples.length * 3).map((_, index) => {
    const at = index / 3;
    const [one = 0, two = 0] = samples.subarray(Math.floor(at), Math.floor(at) + 2);
    return Math.round(one + (two - one) * (at % 1));
  });
  const client = connect('?audio_format=pcm_48000');
  await client.sees('session_started');
  client.speak(doubled, 4097).commit();
  exactly(t, await client.sees('committed_transcript'), { text: TEXT });
});

onEach('what cannot be taken is told, and the session goes on', async (t, { connect }) => {
  const client = connect();
  await client.sees('session_started');
  client.socket.send('{');
  client.socket.send(Buffer.from([1, 2, 3]));
  client.send({ message_type: 'hello' });
  client.send({ message_type: 'input_audio_chunk', audio_base_64: '*' });
  client.chunk(new Uint8Array(2), { sample_rate: 8000 });
  client.chunk(new Uint8Array(0), { previous_text: 'before' });
  client.chunk(new Uint8Array(0), { previous_text: 'too late' });
  const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
  for (const field of ['commit', 'sample_rate', 'previous_text'])
    client.socket.send(`{"message_type":"input_audio_chunk","${field}":${deep}}`);
  await client.sees('input_error', 9);
  t.ok(
    client.of('input_error').every(({ error, message }) => typeof error === 'string' && message === error),
  );
  client.speak(await tones('still here')).commit();
  exactly(t, await client.sees('committed_transcript'), { text: 'still here' });
  t.equal(client.of('input_error').length, 9);
});

onEach('who may not, or asks for what there is not, is told so in band', async (t, { connect }) => {
  const key = { 'xi-api-key': KEY };
  const cases: readonly [query: string, headers: Record<string, string>, type: string, cause?: RegExp][] = [
    ['', {}, 'auth_error', /API key/],
    ['', { 'xi-api-key': 'wrong' }, 'auth_error'],
    ['?token=wrong', {}, 'auth_error'],
    ['?commit_strategy=vad', key, 'invalid_request'],
    ['?audio_format=ulaw_8000', key, 'invalid_request', /audio_format must be one of/],
    ['?commit_strategy=none', key, 'invalid_request', /commit_strategy to manual/],
    ['?commit_strategy=', key, 'invalid_request', /commit_strategy to manual/],
    ['?diarize=true', key, 'invalid_request', /set diarize to false/],
    ['?no_verbatim=true', key, 'invalid_request', /^no_verbatim: Transcripts/],
    ['?enable_logging=false', key, 'invalid_request', /enable_logging/],
    ['?model_id=nothing', key, 'invalid_request'],
    ['?language_code=ja', key, 'invalid_request', /^No speech recognition for "ja"$/],
    ['?language_code=japanese!', key, 'invalid_request', /^No speech recognition for/],
    ['?model_id=svc/s1', key, 'invalid_request'],
  ];
  for (const [query, headers, type, cause = /./] of cases) {
    const client = connect(query, headers);
    const { code, reason } = await client.closed();
    t.equal(code, 1008, `${query} ${type}`);
    t.match(reason, cause, 'clients that see nothing else see why');
    t.strictSame(client.frames.map(({ message_type }) => message_type), [type]); // oxfmt-ignore
    const told = String(client.frames[0]?.['message']);
    t.ok(told.startsWith(reason) && client.frames[0]?.['error'] === told);
  }
});

onEach('a browser may send its key in the query, in every spelling', async (t, { connect }) => {
  for (const name of ['xi-api-key', 'xi_api_key', 'authorization']) {
    const client = connect(`?${name}=${KEY}`, {});
    t.ok(await client.sees('session_started'), name);
    client.socket.terminate();
    await connect(`?${name}=wrong`, {}).sees('auth_error');
  }
});

onEach('a single-use token opens one socket', async (t, { connect }) => {
  const client = connect('?token=fresh-token', {});
  await client.sees('session_started');
  exactly(t, await connect('?token=fresh-token', {}).sees('auth_error'), { error: /used/ });
});

onEach('native options in the handshake refuse each commit', async (t, { connect }) => {
  const client = connect('', { 'xi-api-key': KEY, 'X-Svc-Latency': 'low' });
  await client.sees('session_started');
  client
    .speak(await tones('no'))
    .commit()
    .commit();
  exactly(t, await client.sees('input_error', 2), { error: /X-Svc-/ });
  t.equal(client.frames.length, 3);
  t.equal(client.close, undefined);
});

onEach('no slot or no quota ends the session', async (t, { connect }) => {
  for (const [code, type] of [
    ['concurrency_exceeded', 'rate_limited'],
    ['quota_exceeded', 'quota_exceeded'],
  ] as const) {
    const client = connect();
    await client.sees('session_started');
    admits.next = new ServiceError(code);
    client.chunk(new Uint8Array(32_000), { commit: true });
    exactly(t, await client.closed(), { code: 1008, reason: ERRORS[code].message });
    exactly(t, client.frames.at(-1), { message_type: type });
    admits.next = undefined;
  }
});

onEach('audio whose commit found all engines busy can be committed again', async (t, { connect }) => {
  const client = connect('?include_timestamps=true');
  await client.sees('session_started');
  client.speak(joined(silence(1), await tones('first'), silence(0.5)));
  admits.next = new ServiceError('engine_busy');
  client.commit();
  exactly(t, await client.sees('resource_exhausted'), { error: ERRORS.engine_busy.message });
  admits.next = undefined;
  client.speak(await tones('second')).commit();
  exactly(t, await client.sees('committed_transcript'), { text: 'first second' });
  const { words } = await client.sees('committed_transcript_with_timestamps');
  exactly(t, words, [{ text: 'first' }, { text: ' ' }, { text: 'second' }]);
  const [{ start = NaN } = {}] = words as { start?: number }[];
  t.ok(start > 0.9 && start < 1.5, `from the start of the session: ${start}`);
});

onEach(
  'base64 with the line breaks of mail, and a byte order mark before a frame, are taken',
  async (t, { connect }) => {
    const client = connect();
    await client.sees('session_started');
    const audio = Buffer.from(bytesOf(await tones(TEXT))).toString('base64');
    const audio_base_64 = `${audio.replace(/.{76}/g, '$&\r\n')}\n`;
    const frame = JSON.stringify({ message_type: 'input_audio_chunk', audio_base_64, commit: true });
    client.socket.send(`\ufeff${frame}`);
    exactly(t, await client.sees('committed_transcript'), { text: TEXT });
  },
);

onEach('a frame over the limit closes with 1009', async (t, { connect }) => {
  const client = connect();
  await client.sees('session_started');
  client.socket.send(JSON.stringify({ audio_base_64: 'A'.repeat(LIMITS.socket.frameBytes) }));
  exactly(t, await client.closed(), { code: 1009 });
  exactly(t, client.frames.at(-1), { message_type: 'chunk_size_exceeded' });
});

onEach('a client that leaves while it is heard gives its slot back', async (t, { connect }) => {
  const client = connect();
  await client.sees('session_started');
  const before = admits.entered;
  const large = new Uint8Array(20 * 1024 * 1024);
  client.chunk(large).chunk(large, { commit: true });
  await until('its job runs', () => admits.entered > before);
  client.socket.terminate();
  await until('its slot is free', () => admits.running === 0);
  t.pass('nothing runs');
});
