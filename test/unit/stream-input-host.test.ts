/** The hosts of protocol B's speech sockets, with a speech port and a client that the test moves step by step. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { CLOSE } from '../../contracts/close-codes.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import type { Caller } from '../../contracts/ports/identity.js';
import type { LiveSynthesisRequest, Speech, TimedAudio } from '../../contracts/ports/speech.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import type { ProtocolBParts } from '../../gateway/dialects/protocol-b/parts.js';
import { speechSockets } from '../../gateway/dialects/protocol-b/sockets/index.js';
import type { HttpRequest, Socket, SocketAccept } from '../../gateway/server/port.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import type { SpeechFrame } from '../fixtures/speech-socket.js';

const CALLER: Caller = { workspaceId: 'w', keyId: 'k' };

/** A speech port that speaks each flushed text as one piece, a chunk for each time that it is told to go on. */
class ToldSpeech {
  readonly jobs: {
    readonly request: LiveSynthesisRequest;
    steps: number;
    error: ServiceError | undefined;
    wake: () => void;
    readonly signal: AbortSignal;
    text: string;
    over: boolean;
  }[] = [];

  readonly port = {
    synthesizeTimed: (request: LiveSynthesisRequest, _caller: Caller, signal: AbortSignal) =>
      this.#speak(request, signal),
    checkQuota: () => Promise.resolve(),
  } as unknown as Speech;

  goOn(job: number, steps = 1): void {
    const told = this.jobs[job];
    if (!told) return;
    told.steps += steps;
    told.wake();
  }

  fail(job: number, error: ServiceError): void {
    const told = this.jobs[job];
    if (!told) return;
    told.error = error;
    told.wake();
  }

  async *#speak(request: LiveSynthesisRequest, signal: AbortSignal): AsyncGenerator<TimedAudio> {
    const job = {
      request,
      steps: 0,
      error: undefined as ServiceError | undefined,
      wake: () => undefined as void,
      signal,
      text: '',
      over: false,
    };
    const number = this.jobs.push(job) - 1;
    signal.addEventListener('abort', () => job.wake());
    const step = async (): Promise<void> => {
      while (job.steps === 0 && !job.error && !signal.aborted)
        await new Promise<void>((resolve) => (job.wake = resolve));
      if (job.error) throw job.error;
      signal.throwIfAborted();
      job.steps--;
    };
    try {
      let at = 0;
      let index = 0;
      let unspoken = '';
      const parts = request.text[Symbol.asyncIterator]();
      for (;;) {
        const part = await Promise.race([parts.next(), aborted(signal)]);
        if (part.done) break;
        if (part.value.kind === 'text') unspoken += part.value.text;
        else if (unspoken.trim() !== '') {
          await step();
          const text = unspoken.trim();
          const offset = index / 10;
          const start = at + unspoken.indexOf(text);
          const piece = { index, text, at: start, offset, duration: 0.1, complete: true, words: [] };
          job.text += unspoken;
          at += unspoken.length;
          unspoken = '';
          index += 1;
          yield { audio: Uint8Array.of(number), piece, end: offset + 0.1 };
        }
      }
      await step();
    } finally {
      job.over = true;
    }
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

interface Close {
  readonly close: { readonly code: number; readonly reason: string };
}
type Entry = SpeechFrame | Close;

interface Opening {
  readonly path?: 'stream-input' | 'multi-stream-input';
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly params?: Readonly<Record<string, string>>;
  readonly speech?: Partial<Speech>;
  /** Keys are looked up when the test says so. */
  readonly slowKeys?: boolean;
}

async function open(opening: Opening = {}) {
  const { path = 'stream-input', query = {}, headers = { 'xi-api-key': 'good' }, params = {} } = opening;
  const speech = new ToldSpeech();
  const clock = new SimulatedClock();
  const gone = new AbortController();
  const log: Entry[] = [];
  const asked: (() => void)[] = [];
  let readable = true;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    const released = waiting;
    waiting = [];
    for (const go of released) go();
  };
  const socket: Socket = {
    send: (data) => void (gone.signal.aborted || log.push(JSON.parse(String(data)) as SpeechFrame)),
    queuedBytes: 0,
    drained: () =>
      readable || gone.signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => void waiting.push(resolve)),
    close(reason) {
      if (!gone.signal.aborted) log.push({ close: typeof reason === 'string' ? CLOSE[reason] : reason });
      gone.abort();
      release();
    },
    signal: gone.signal,
  };
  const keys = {
    async authenticate(key: string) {
      if (opening.slowKeys) await new Promise<void>((resolve) => asked.push(resolve));
      return key === 'good' ? CALLER : undefined;
    },
  };
  const tokens = {
    redeem: (token: string, kind: string) =>
      Promise.resolve(token === 'once' && kind === 'tts_websocket' ? CALLER : undefined),
  };
  const parts = {
    speech: { ...speech.port, ...opening.speech },
    keys,
    tokens,
    clock,
    log: silentLog,
    vocabulary: defaultVocabulary,
  } as unknown as ProtocolBParts;
  const route = speechSockets(parts).find((candidate) => candidate.path.endsWith(`/${path}`));
  const request = {
    headers: new Map(Object.entries(headers)),
    query: new URLSearchParams(query),
    params: { voice_id: '', ...params },
    method: 'GET',
    generationId: 'g',
  } as unknown as HttpRequest;
  const accept = (await route?.upgrade(request)) as SocketAccept;
  const events = accept.open(socket);
  return {
    speech,
    clock,
    log,
    asked,
    /** Nothing is taken once the socket has closed. */
    send(...frames: unknown[]) {
      for (const frame of frames) if (!gone.signal.aborted) events.message(JSON.stringify(frame));
    },
    leave() {
      gone.abort();
      release();
      events.closed(1006);
    },
    isClosed: () => gone.signal.aborted,
    read(now: boolean) {
      readable = now;
      if (now) release();
    },
  };
}

const turns = async (count = 6): Promise<void> => {
  for (let index = 0; index < count; index++) await turn();
};

const errorsIn = (log: readonly Entry[]): SpeechFrame[] =>
  log.filter((entry): entry is SpeechFrame => 'error' in entry);
const FINAL = { audio: null, isFinal: true, alignment: null, normalizedAlignment: null };

t.test('text, end of input: all of it is spoken, one final frame, 1000', async (t) => {
  const { speech, send, log } = await open();
  send({ text: ' ' }, { text: 'Hello ' }, { text: 'world. ' });
  await turns();
  t.equal(speech.jobs.length, 0, 'too little for a generation');
  send({ text: '' });
  speech.goOn(0, 9);
  await turns();
  speech.goOn(0, 9);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello world. ');
  t.match(log, [{ audio: 'AA==', isFinal: null }, FINAL, { close: CLOSE.normal }]);
  t.equal(log.length, 3);
});

t.test('nothing to say: the final frame at once', async (t) => {
  for (const frames of [[{ text: '' }], [{ text: ' ' }, { text: '' }], [{ text: '', flush: true }]]) {
    const { send, log } = await open();
    send(...frames);
    t.match(log, [FINAL, { close: CLOSE.normal }]);
  }
});

t.test('an empty text with flush speaks what waits and then ends', async (t) => {
  const { speech, send, log } = await open();
  send({ text: 'Hello. ' }, { text: '', flush: true }, { text: 'too late' });
  await turns();
  speech.goOn(0, 2);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello. ');
  t.match(log.slice(1), [FINAL, { close: CLOSE.normal }]);
});

t.test('one job for all generations of a context: one stream of its codec', async (t) => {
  const { speech, send } = await open({ query: { auto_mode: 'true' } });
  for (const text of ['One. ', 'Two. ', ' ', 'Three. ']) send({ text });
  send({ text: 'Four. ', flush: true }, { text: 'word '.repeat(30) });
  await turns();
  speech.goOn(0, 9);
  await turns(30);
  t.equal(speech.jobs.length, 1);
  t.equal(speech.jobs[0]?.text, `One. Two. Three. Four. ${'word '.repeat(30)}`);
});

t.test('the schedule of the first frame decides when a generation begins by itself', async (t) => {
  const { speech, send } = await open();
  send({ text: ' ', generation_config: { chunk_length_schedule: [60, 300] } }, { text: 'w'.repeat(59) });
  await turns();
  t.equal(speech.jobs.length, 0);
  send({ text: ' ' });
  await turns();
  t.equal(speech.jobs.length, 1, 'at its first item');
  send({ text: 'w'.repeat(298) });
  speech.goOn(0, 9);
  await turns(10);
  t.equal(speech.jobs[0]?.text.length, 60);
  send({ text: 'w ' });
  await turns(10);
  t.equal(speech.jobs[0]?.text.length, 360, 'and its second');
});

t.test('keys: header, bearer, query, single-use token, first message in every spelling', async (t) => {
  const good: [Opening, object][] = [
    [{}, {}],
    [{ headers: { authorization: 'Bearer good' } }, {}],
    [{ headers: {}, query: { authorization: 'good' } }, {}],
    [{ headers: {}, query: { authorization: 'Bearer good' } }, {}],
    [{ headers: {}, query: { single_use_token: 'once' } }, {}],
    [{ headers: {} }, { xi_api_key: 'good' }],
    [{ headers: {} }, { 'xi-api-key': 'good' }],
    [{ headers: {} }, { authorization: 'Bearer good' }],
  ];
  const bad: [Opening, object, string][] = [
    [{ headers: { 'xi-api-key': 'bad' } }, {}, 'invalid_api_key'],
    [{ headers: { authorization: 'Basic x' } }, {}, 'invalid_api_key'],
    [{ headers: {}, query: { authorization: 'bad' } }, {}, 'invalid_api_key'],
    [{ headers: {}, query: { single_use_token: 'twice' } }, {}, 'invalid_api_key'],
    [{ headers: {} }, { xi_api_key: 'bad' }, 'invalid_api_key'],
    [{ headers: {} }, { xi_api_key: '\u0000'.repeat(200) }, 'invalid_api_key'],
    [{ headers: {} }, {}, 'authentication_required'],
  ];
  for (const path of ['stream-input', 'multi-stream-input'] as const) {
    for (const [opening, fields] of good) {
      const { speech, send, log } = await open({ ...opening, path });
      send({ text: ' ', ...fields }, { text: 'Hello. ', flush: true });
      await turns();
      t.equal(speech.jobs.length, 1, JSON.stringify([opening, fields]));
      t.strictSame(log, []);
    }
    for (const [opening, fields, error] of bad) {
      const { send, log } = await open({ ...opening, path });
      send({ text: ' ', ...fields });
      await turns();
      t.match(log, [{ error, code: 1008, message: String }, { close: { code: 1008 } }], error);
      t.equal(log.length, 2);
    }
  }
});

t.test('a key in the header is not overruled by the first message', async (t) => {
  const { speech, send } = await open();
  send({ text: ' ', xi_api_key: 'bad' }, { text: 'Hello. ', flush: true });
  await turns();
  t.equal(speech.jobs.length, 1);
});

t.test('frames that come while their sender is authenticated take effect in their order', async (t) => {
  const { speech, send, asked, log } = await open({ headers: {}, slowKeys: true });
  send({ text: ' ', xi_api_key: 'good' }, { text: 'Hello ' }, { text: 'world. ', flush: true }, { text: '' });
  await turns();
  t.equal(speech.jobs.length, 0);
  t.equal(asked.length, 1, 'the key is looked up once');
  asked[0]?.();
  await turns();
  speech.goOn(0, 2);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello world. ');
  t.match(log.at(-1), { close: CLOSE.normal });
});

t.test('a client that leaves before its key is known leaves nothing', async (t) => {
  const { speech, send, asked, log, leave, clock } = await open({ headers: {}, slowKeys: true });
  send({ text: ' ', xi_api_key: 'good' }, { text: 'Hello. ', flush: true });
  leave();
  asked[0]?.();
  await turns();
  t.strictSame([log.length, speech.jobs.length, clock.pending], [0, 0, 0]);
});

t.test('a stranger may not make us keep much', async (t) => {
  for (const frame of [
    { text: 'a'.repeat(600_000) },
    { text: ' ', voice_settings: { x: 'a'.repeat(600_000) } },
  ]) {
    const { send, log } = await open({ headers: {}, slowKeys: true });
    send({ text: ' ', xi_api_key: 'good' }, frame, frame);
    t.match(log, [{ error: 'buffer_overflow', code: 1009 }, { close: { code: 1009 } }]);
  }
  const many = await open({ headers: {}, slowKeys: true });
  for (let frame = 0; frame < 1100; frame++) many.send({ text: 'a' });
  t.match(many.log, [{ error: 'buffer_overflow' }, { close: { code: 1009 } }]);
});

t.test('a quota that is used up is told in band', async (t) => {
  const checkQuota = () => Promise.reject(new ServiceError('quota_exceeded'));
  for (const headers of [{ 'xi-api-key': 'good' }, {}]) {
    const { send, log } = await open({ headers, speech: { checkQuota } });
    send({ text: ' ', xi_api_key: 'good' });
    await turns();
    t.match(log, [{ error: 'quota_exceeded', code: 1008 }, { close: { code: 1008 } }]);
  }
});

t.test('our own failure before the upgrade is an HTTP error', async (t) => {
  const checkQuota = () => Promise.reject(new ServiceError('overloaded'));
  await t.rejects(open({ speech: { checkQuota } }), { code: 'overloaded' });
});

t.test('what the handshake asks for and there is not: one error frame, then 1008', async (t) => {
  const cases: [Opening, string, RegExp | undefined][] = [
    [{ query: { output_format: 'ulaw_8000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'alaw_8000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'pcm_22050' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'pcm_48000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'mp3_24000_48' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'mp3_44100_256' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'ogg' } }, 'unsupported_output_format', /output_format/],
    [{ query: { model_id: 'scribe_v1' } }, 'model_not_found', /model_id/],
    [{ query: { model_id: 'nobody' } }, 'model_not_found', /model_id/],
    [{ query: { language_code: 'xx' } }, 'language_unavailable', /language_code/],
    [{ query: { auto_mode: 'maybe' } }, 'invalid_request', /auto_mode/],
    [{ query: { sync_alignment: 'maybe' } }, 'invalid_request', /sync_alignment/],
    [{ query: { inactivity_timeout: '0' } }, 'invalid_request', /inactivity_timeout/],
    [{ query: { inactivity_timeout: '-1' } }, 'invalid_request', /inactivity_timeout/],
    [{ query: { inactivity_timeout: 'soon' } }, 'invalid_request', /inactivity_timeout/],
    [{ params: { voice_id: 'v'.repeat(129) } }, 'voice_not_found', /voice_id/],
    [{ headers: { 'xi-api-key': 'good', 'x-svc-top-p': '7' } }, 'invalid_request', /X-Svc-Top-P/],
    [{ headers: { 'xi-api-key': 'good', 'x-svc-mp3-bitrate': '100' } }, 'invalid_request', /Bitrate/],
  ];
  for (const path of ['stream-input', 'multi-stream-input'] as const) {
    for (const [opening, error, param] of cases) {
      const { log } = await open({ headers: { 'xi-api-key': 'good' }, ...opening, path });
      t.match(log, [{ message: String, error, code: 1008, param }, { close: { code: 1008 } }], error);
      t.equal(log.length, 2);
      const [told, { close }] = log as [SpeechFrame, Close];
      t.equal(close.reason, told.message, 'the reason is the message');
    }
  }
});

t.test('what passes: other names of the same, and options that change nothing', async (t) => {
  const queries = [
    { output_format: 'mp3_44100' },
    { output_format: 'mp3_44100_32' },
    { output_format: 'opus_48000_96' },
    { model_id: 'eleven_turbo_v2_5', enable_logging: 'true', enable_ssml_parsing: 'false' },
    { inactivity_timeout: '300', apply_text_normalization: 'auto', optimize_streaming_latency: '3' },
    { enable_logging: 'false', seed: '1', language_code: 'en-US', sync_alignment: '', auto_mode: 'False' },
  ];
  for (const query of queries) {
    const { speech, send } = await open({ query });
    send({ text: 'Hello. ', flush: true });
    await turns();
    t.equal(speech.jobs.length, 1, JSON.stringify(query));
    t.equal(speech.jobs[0]?.request.latency, 'low');
  }
});

t.test('voice settings of the first frame, and headers over them', async (t) => {
  const settings = { stability: 0.25, similarity_boost: 0.8, style: 1, use_speaker_boost: true, speed: 1.1 };
  const first = { text: ' ', voice_settings: settings };
  const { speech, send } = await open();
  send(first, { text: 'Hello. ', flush: true });
  await turns();
  t.match(speech.jobs[0]?.request, { speed: 1.1, sampling: { temperature: 0.75 } });
  const headed = await open({
    headers: { 'xi-api-key': 'good', 'x-svc-temperature': '0.1', 'x-svc-latency': 'normal' },
  });
  headed.send(first, { text: 'Hello. ', flush: true });
  await turns();
  t.match(headed.speech.jobs[0]?.request, { sampling: { temperature: 0.1 }, latency: 'normal', speed: 1.1 });
  for (const wrong of [{ speed: 1.3 }, { speed: 0.6 }, { stability: 2 }, 'loud']) {
    const { send, log } = await open();
    send({ text: ' ', voice_settings: wrong });
    t.match(log, [{ error: 'invalid_request', param: /^voice_settings/ }, { close: { code: 1008 } }]);
  }
});

t.test('voice settings later: unchanged passes on stream-input, anything is refused on multi', async (t) => {
  const first = { text: ' ', voice_settings: { stability: 0.5 } };
  const single = await open();
  single.send(
    first,
    { text: 'a ', voice_settings: { stability: 0.5, style: 0 } },
    { text: 'b ', voice_settings: null },
  );
  t.strictSame(single.log, []);
  single.send({ text: 'c ', voice_settings: { stability: 0.6 } });
  t.match(single.log, [
    { error: 'invalid_input_message', param: 'voice_settings' },
    { close: { code: 1008 } },
  ]);
  const multi = await open({ path: 'multi-stream-input' });
  multi.send({ ...first, context_id: 'a' }, { text: 'x ', context_id: 'a' }, { ...first, context_id: 'b' });
  t.strictSame(multi.log, []);
  multi.send({ ...first, context_id: 'a' });
  t.match(multi.log, [
    { error: 'invalid_input_message', param: 'voice_settings' },
    { close: { code: 1008 } },
  ]);
});

t.test('reference audio is refused at flush time, not before (rule 5)', async (t) => {
  const references = JSON.stringify([{ audio: 'AAAA', text: 'x' }]);
  const headers = { 'xi-api-key': 'good', 'x-svc-references': references };
  const ways: [name: string, frames: object[]][] = [
    ['flush', [{ text: 'more ', flush: true }]],
    ['a flush of nothing', [{ text: ' ', flush: true }]],
    ['the schedule', [{ text: 'word '.repeat(40) }]],
    ['the end', [{ text: '' }]],
    ['try_trigger_generation', [{ text: 'sentence. ', try_trigger_generation: true }]],
  ];
  for (const [name, frames] of ways) {
    const { send, log, speech } = await open({ headers });
    send({ text: ' ' }, { text: 'Hello ' });
    await turns();
    t.strictSame(log, [], 'not at the handshake');
    send(...frames);
    await turns();
    t.match(
      log,
      [{ error: 'unsupported_option', param: 'X-Svc-References' }, { close: { code: 1008 } }],
      name,
    );
    t.equal(speech.jobs.length, 0);
  }
});

t.test('more than 1 MiB of waiting text: error frame 1009, close 1009', async (t) => {
  const MiB = LIMITS.streamInput.bufferedTextBytes;
  for (const path of ['stream-input', 'multi-stream-input'] as const) {
    const whole = await open({ path });
    whole.send({ text: 'a'.repeat(MiB + 1) });
    t.match(whole.log, [{ error: 'buffer_overflow', code: 1009 }, { close: { code: 1009 } }]);
    const blank = await open({ path });
    blank.send({ text: ' '.repeat(MiB + 1) });
    t.match(blank.log, [{ error: 'buffer_overflow', code: 1009 }, { close: { code: 1009 } }]);
    const parts = await open({ path });
    parts.send({ text: 'ä'.repeat(MiB / 4) }, { text: 'ä'.repeat(MiB / 4 - 2) });
    t.strictSame(parts.log, [], 'what fits is taken, in bytes');
    // The job has read a slice of it.
    parts.send({ text: 'ä'.repeat(10_000) });
    t.match(parts.log, [{ error: 'buffer_overflow', code: 1009 }, { close: { code: 1009 } }]);
    await turns();
    t.ok(parts.speech.jobs.every(({ over }) => over));
  }
});

t.test('silence: an error frame and 1008 after inactivity_timeout, which blanks put off', async (t) => {
  const { send, log, clock } = await open({ query: { inactivity_timeout: '5' } });
  clock.advance(4999);
  send({ text: ' ' });
  for (let round = 0; round < 5; round++) {
    clock.advance(4999);
    send({ text: ' ' });
  }
  t.strictSame(log, []);
  clock.advance(5000);
  t.match(log, [
    { error: 'input_timeout_exceeded', code: 1008, message: /5 seconds/ },
    { close: { code: 1008 } },
  ]);
  t.equal(clock.pending, 0);
});

t.test('silence is 20 s by default, 180 s at most, and counts before the first frame', async (t) => {
  for (const [query, ms] of [
    [{}, 20_000],
    [{ inactivity_timeout: '300' }, 180_000],
  ] as const) {
    for (const headers of [{ 'xi-api-key': 'good' }, {}]) {
      const { log, clock } = await open({ query, headers });
      clock.advance(ms - 1);
      t.strictSame(log, []);
      clock.advance(1);
      t.match(log, [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
    }
  }
});

t.test('silence does not count after the end of input', async (t) => {
  const { send, log, clock, speech } = await open();
  send({ text: 'Hello. ' }, { text: '' });
  await turns();
  clock.advance(1_000_000);
  t.strictSame(log, []);
  speech.goOn(0, 2);
  await turns();
  t.match(log.at(-1), { close: CLOSE.normal });
});

t.test('a failed synthesis: one error frame, then the close code', async (t) => {
  for (const [error, code, slug] of [
    [new ServiceError('engine_lost'), 1011, 'internal_error'],
    [new ServiceError('internal'), 1011, 'internal_error'],
    [new ServiceError('voice_not_found'), 1008, 'voice_not_found'],
    [new ServiceError('concurrency_exceeded'), 1008, 'too_many_concurrent_requests'],
    [new ServiceError('quota_exceeded'), 1008, 'quota_exceeded'],
  ] as const) {
    const { send, log, speech } = await open();
    send({ text: 'Hello. ', flush: true });
    await turns();
    speech.fail(0, error);
    await turns();
    t.match(log, [{ error: slug, code, message: error.message }, { close: { code } }]);
    t.equal(log.length, 2);
  }
});

t.test('a client that does not read is given no more, and goes on where it stood', async (t) => {
  const { send, log, speech, read } = await open({ query: { auto_mode: 'true' } });
  read(false);
  for (const text of ['One. ', 'Two. ', 'Three. ', 'Four. ']) send({ text });
  await turns();
  speech.goOn(0, 9);
  await turns(20);
  t.equal(log.length, 1, 'one is on its way, the others are not pulled');
  read(true);
  await turns(20);
  t.equal(log.length, 4);
});

const multi = (opening: Opening = {}) => open({ ...opening, path: 'multi-stream-input' });

t.test('contexts speak side by side, and are final when they were closed, not when flushed', async (t) => {
  const { send, log, speech } = await multi();
  send(
    { text: ' ', context_id: 'a', voice_settings: {} },
    { text: 'Hello ', context_id: 'a' },
    { text: ' ', context_id: 'b' },
    { text: 'World. ', context_id: 'b', flush: true },
    { text: '', context_id: 'a', flush: true },
  );
  await turns();
  t.equal(speech.jobs.length, 2);
  for (const job of [0, 1]) speech.goOn(job, 2);
  await turns(10);
  t.match(log, [
    { audio: 'AA==', contextId: 'b' },
    { audio: 'AQ==', contextId: 'a' },
  ]);
  t.notOk(
    log.some((entry) => 'isFinal' in entry && entry.isFinal),
    'a flush ends nothing',
  );
  t.strictSame((log[1] as SpeechFrame).alignment?.chars.join(''), 'Hello ');
  send({ context_id: 'a', close_context: true }, { context_id: 'b', close_context: true, text: 'ignored' });
  await turns(10);
  t.match(log.slice(2), [
    { ...FINAL, contextId: 'a' },
    { ...FINAL, contextId: 'b' },
  ]);
  t.equal(log.length, 4, 'the socket stays open');
});

t.test('a context that is closed speaks to its end, and its name is free at once', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'Old. ', context_id: 'a' }, { context_id: 'a', close_context: true });
  send({ text: 'New. ', context_id: 'a' }, { context_id: 'a', flush: true });
  await turns();
  t.equal(speech.jobs.length, 2);
  speech.goOn(0, 2);
  speech.goOn(1, 1);
  await turns(10);
  t.strictSame(
    speech.jobs.map(({ text }) => text),
    ['Old. ', 'New. '],
  );
  t.equal(log.filter((entry) => 'isFinal' in entry && entry.isFinal).length, 1, 'the old one is final');
});

t.test('an empty text keeps a context alive and opens none', async (t) => {
  const { send, log, clock, speech } = await multi({ query: { inactivity_timeout: '10' } });
  send({ text: ' ', context_id: 'a' });
  for (let round = 0; round < 5; round++) {
    clock.advance(9000);
    send({ text: '', context_id: 'a' }, { text: '' });
  }
  t.strictSame(log, []);
  send({ text: 'Hello. ', context_id: 'a', flush: true });
  await turns();
  t.equal(speech.jobs.length, 1);
  for (let name = 0; name < 10; name++)
    send({ text: '', context_id: `c${name}` }, { context_id: `d${name}`, flush: true });
  send({ context_id: 'nobody', close_context: true });
  t.strictSame(log, [], 'no context was opened for them');
});

t.test('an empty text without a context keeps the socket open', async (t) => {
  const { send, log, clock } = await multi({ query: { inactivity_timeout: '10' } });
  for (let round = 0; round < 5; round++) {
    clock.advance(9000);
    send({ text: '' });
  }
  t.strictSame(log, []);
  clock.advance(10_000);
  t.match(log, [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
});

t.test('a context that hears nothing is closed alone; a socket without contexts as well', async (t) => {
  const { send, log, clock, speech } = await multi({ query: { inactivity_timeout: '10' } });
  send({ text: 'Unspoken', context_id: 'a' }, { text: ' ', context_id: 'b' });
  clock.advance(6000);
  send({ text: '', context_id: 'b' });
  clock.advance(6000);
  await turns();
  speech.goOn(0, 2);
  await turns(10);
  t.equal(speech.jobs[0]?.text, 'Unspoken ', 'what waited is spoken');
  t.match(log, [
    { contextId: 'a', audio: String },
    { ...FINAL, contextId: 'a' },
  ]);
  clock.advance(4000);
  t.match(log[2], { ...FINAL, contextId: 'b' });
  clock.advance(9999);
  t.equal(log.length, 3);
  clock.advance(1);
  t.match(log.slice(3), [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
});

t.test('five contexts at most, those that speak to their end among them', async (t) => {
  const { send, log, speech } = await multi();
  for (let name = 0; name < 5; name++) send({ text: `Hello ${name}. `, context_id: `c${name}`, flush: true });
  await turns();
  send({ context_id: 'c0', close_context: true });
  t.strictSame(log, []);
  speech.goOn(0, 2);
  await turns(10);
  send({ text: ' ', context_id: 'c5' });
  t.strictSame(errorsIn(log), [], 'there is room again');
  send({ text: ' ', context_id: 'c6' });
  t.match(log.slice(-2), [{ error: 'max_contexts_exceeded', code: 1008 }, { close: { code: 1008 } }]);
  await turns();
  t.ok(
    speech.jobs.every(({ over }) => over),
    'and none speaks on',
  );
});

t.test('close_socket: all that was said is spoken, then 1000', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'One. ', context_id: 'a' }, { text: 'Two. ', context_id: 'b', flush: true });
  send({ close_socket: true }, { text: 'Three. ', context_id: 'c', flush: true });
  await turns();
  for (const job of [0, 1]) speech.goOn(job, 2);
  await turns(10);
  t.equal(speech.jobs.length, 2);
  t.equal(log.filter((entry) => 'isFinal' in entry && entry.isFinal).length, 2);
  t.match(log.at(-1), { close: CLOSE.normal });
  const empty = await multi();
  empty.send({ close_socket: true });
  t.match(empty.log, [{ close: CLOSE.normal }]);
});

t.test('frames without a context share one that has a name of its own', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'Hello ' }, { text: 'there. ', flush: true });
  await turns();
  speech.goOn(0);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello there. ');
  t.match(log, [{ contextId: 'default' }]);
});

t.test('a phrase without a blank behind it gets one, so that words are not joined', async (t) => {
  const { send, log, speech } = await multi({ query: { auto_mode: 'true' } });
  send({ text: 'Hello there.', context_id: 'a' }, { text: 'And you?', context_id: 'a' });
  await turns();
  speech.goOn(0, 2);
  await turns(10);
  const told = log.map((entry) => (entry as SpeechFrame).alignment?.chars.join(''));
  t.strictSame(told, ['Hello there. ', 'And you? ']);
});

t.test('a failure of one context ends it alone, where the others may go on', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'One. ', context_id: 'a', flush: true }, { text: 'Two. ', context_id: 'b', flush: true });
  await turns();
  speech.fail(0, new ServiceError('engine_lost'));
  await turns();
  t.match(log, [{ error: 'internal_error', code: 1011, contextId: 'a' }]);
  speech.goOn(1);
  await turns();
  t.match(log[1], { audio: 'AQ==', contextId: 'b' });
  send({ text: 'Three. ', context_id: 'b', flush: true });
  speech.fail(1, new ServiceError('voice_not_found'));
  await turns();
  t.match(
    log.slice(2),
    [{ error: 'voice_not_found', code: 1008 }, { close: { code: 1008 } }],
    'of all of them',
  );
});

const TEXTS = ['word ', 'A sentence. ', ' ', '', 'x'.repeat(200), 'two words '] as const;
const NAMES = ['a', 'b', 'c', 'd'] as const;

/** What must hold of everything that a client was sent. */
function wrongIn(log: readonly Entry[], isMulti: boolean): string[] {
  const wrong: string[] = [];
  const closeAt = log.findIndex((entry) => 'close' in entry);
  if (closeAt >= 0 && closeAt !== log.length - 1) wrong.push('something follows the close');
  const close = log[closeAt] as Close | undefined;
  const told = errorsIn(log).filter(({ contextId }) => contextId === undefined);
  if (told.length > 1) wrong.push('two error frames');
  if (close && close.close.code !== (told[0]?.code ?? 1000)) wrong.push('error and close code differ');
  if (told.length === 1 && log.at(-2) !== told[0]) wrong.push('an error without a close');
  const finals = log.filter((entry) => 'isFinal' in entry && entry.isFinal).length;
  if (!isMulti && (finals > 1 || (finals === 1) !== (close?.close.code === 1000)))
    wrong.push(`${finals} finals`);
  if (log.some((entry) => 'audio' in entry && (entry.contextId !== undefined) !== isMulti))
    wrong.push('whose?');
  return wrong;
}

for (const path of ['stream-input', 'multi-stream-input'] as const) {
  t.test(`a random walk of ${path}: order of ends, nothing after them, nothing left`, async (t) => {
    const isMulti = path === 'multi-stream-input';
    const closes = new Map<number, number>();
    for (const seed of [1, 2, 3]) {
      const random = seeded(seed);
      for (let steps = 0; steps < 3500;) {
        const { speech, clock, log, send, leave, read, isClosed } = await open({
          path,
          query: { auto_mode: String(random() < 0.3), sync_alignment: String(random() < 0.5) },
        });
        const rarely = (task: () => void): void => void (random() < 0.04 && task());
        const named = (fields: object) => (isMulti ? { ...fields, context_id: pick(random, NAMES) } : fields);
        const job = (): number => Math.floor(random() * speech.jobs.length);
        const moves: [() => void, ...(() => void)[]] = [
          () => send(named({ text: pick(random, TEXTS.slice(0, isMulti ? 6 : 3) as [string]) })),
          () => send(named({ text: pick(random, TEXTS), flush: isMulti || random() < 0.1 })),
          () => send(named({ text: 'go. ', try_trigger_generation: true })),
          () => send(named({ text: 'x ', flush: true })),
          () => isMulti && random() < 0.5 && send(named({ close_context: true })),
          () => speech.goOn(job()),
          () => speech.goOn(job(), 3),
          () => read(random() < 0.7),
          () => clock.advance(random() * 12_000),
          () => rarely(() => speech.fail(job(), new ServiceError('engine_failed'))),
          () => rarely(() => speech.fail(job(), new ServiceError('voice_not_found'))),
          () => rarely(() => send({ text: 5 })),
          () => rarely(() => send(isMulti ? { close_socket: true } : { text: '' })),
          () => rarely(() => leave()),
        ];
        for (let step = 0; step < 70 && !isClosed(); step++, steps++) {
          pick(random, moves)();
          if (random() < 0.6) await turn();
        }
        read(true);
        speech.jobs.forEach((_, index) => speech.goOn(index, 99));
        await turns(20);
        const sent = log.length;
        leave();
        await turns();
        if (log.length !== sent) return t.fail('something is sent to a client that has gone');
        const wrong = wrongIn(log, isMulti);
        if (wrong.length > 0) return t.fail(`seed ${seed}: ${wrong.join()} in ${JSON.stringify(log)}`);
        if (!speech.jobs.every(({ over }) => over)) return t.fail('a job is left');
        if (clock.pending > 0) return t.fail('a timer is left');
        const code = (log.at(-1) as Close | undefined)?.close?.code ?? 0;
        closes.set(code, (closes.get(code) ?? 0) + 1);
      }
    }
    t.ok((closes.get(1000) ?? 0) > 2 && (closes.get(1008) ?? 0) > 2, JSON.stringify([...closes]));
  });
}
