/** Protocol A's realtime session: its machine, its budgets, and its host with ports that the test moves step by step. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { createActor } from 'xstate';
import { realtime, type RealtimeEffect, type ResponseOrder } from '../../actors/realtime.js';
import { InputAudio } from '../../actors/realtime-audio.js';
import { Conversation, type ConversationItem } from '../../actors/realtime-conversation.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import type {
  Speech,
  SynthesisRequest,
  TimedAudio,
  Transcript,
  Transcription,
  TranscriptionRequest,
  TranscriptSegment,
} from '../../contracts/ports/speech.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { AudioShelf } from '../../gateway/dialects/protocol-a/realtime/audio-shelf.js';
import { RealtimeSession } from '../../gateway/dialects/protocol-a/realtime/session.js';
import { defaultSettings } from '../../gateway/dialects/protocol-a/realtime/settings.js';
import type { RealtimeClient } from '../../gateway/dialects/protocol-a/realtime/state.js';
import type { ProtocolAParts } from '../../gateway/dialects/protocol-a/routes.js';
import type { Socket } from '../../gateway/server/port.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';
import type { ServerEvent } from '../fixtures/realtime.js';

const STEPS = 10_000;
const SEEDS = [1, 2, 3];

const transcriptOf = (text: string): Transcript => ({ text, duration: 1, segments: [] });
const error = new ServiceError('engine_failed');

/** What is wrong with the effects of a machine, as words. */
class Watch {
  readonly wrong: string[] = [];
  live: string | undefined;
  readonly listening = new Set<string>();
  gone = false;
  responses = 0;
  transcripts = 0;

  see(effect: RealtimeEffect): void {
    this.#expect(!this.gone || ['stop', 'leave'].includes(effect.type), `${effect.type} after gone`);
    if (effect.type === 'begin') {
      this.#expect(this.live === undefined, 'a second response');
      this.live = effect.order.id;
    } else if (effect.type === 'finish') {
      this.#expect(this.live !== undefined, 'finish without begin');
      this.live = undefined;
      this.responses += 1;
    } else if (effect.type === 'listen') {
      this.#expect(!this.listening.has(effect.item), 'listens twice');
      this.listening.add(effect.item);
      this.#expect(this.listening.size <= LIMITS.realtime.transcriptions, 'too many at once');
    } else if (effect.type === 'transcribed' || effect.type === 'untranscribed') {
      this.#expect(this.listening.delete(effect.item), 'a result that nobody waits for');
      this.transcripts += 1;
    } else if (effect.type === 'leave') this.listening.delete(effect.item);
  }

  #expect(holds: boolean, otherwise: string): void {
    if (!holds) this.wrong.push(otherwise);
  }
}

t.test(
  'the machine on a random walk: one live response, one end each, no result of what was dropped',
  async (t) => {
    for (const seed of SEEDS) {
      const random = seeded(seed);
      let watch = new Watch();
      let actor = createActor(realtime);
      const begin = (): void => {
        actor = createActor(realtime);
        watch = new Watch();
        const seen = watch;
        actor.on('*', (effect) => seen.see(effect));
        actor.start();
      };
      begin();
      let responses = 0;
      let items = 0;
      let ended = 0;
      const response = (): string => `r${Math.max(0, responses - Math.floor(random() * 3))}`;
      const item = (): string => `i${Math.max(0, items - Math.floor(random() * 12))}`;
      const moves: [() => void, ...(() => void)[]] = [
        () =>
          actor.send({ type: 'respond', order: { id: `r${++responses}`, eventId: null } as ResponseOrder }),
        () => actor.send({ type: 'cancel', response: random() < 0.5 ? undefined : response(), eventId: 'e' }),
        () => actor.send({ type: 'spoken', response: response() }),
        () => actor.send({ type: 'broke', response: response(), error }),
        () => actor.send({ type: 'hear', item: `i${++items}` }),
        () => actor.send({ type: 'hear', item: `i${++items}` }),
        () => actor.send({ type: 'heard', item: item(), transcript: transcriptOf('a') }),
        () => actor.send({ type: 'heard', item: item(), transcript: transcriptOf('a') }),
        () => actor.send({ type: 'unheard', item: item(), error }),
        () => actor.send({ type: 'forget', item: item() }),
      ];
      const finish = (): void => {
        watch.gone = true;
        actor.send({ type: 'gone' });
        if (watch.listening.size > 0) watch.wrong.push('a transcription outlives the session');
        ended += watch.responses + watch.transcripts;
      };
      for (let step = 0; step < STEPS; step += 1) {
        pick(random, moves)();
        if (random() >= 0.002) continue;
        finish();
        for (const move of moves) move();
        if (!t.strictSame(watch.wrong, [], `seed ${seed}`)) return;
        begin();
      }
      finish();
      t.strictSame(watch.wrong, [], `seed ${seed}`);
      t.ok(ended > 500, `${ended} ended`);
    }
  },
);

const bytesOf = (chunks: readonly Uint8Array[]): number[] => chunks.flatMap((chunk) => [...chunk]);
const base64 = (...bytes: number[]): string => Buffer.from(bytes).toString('base64');

t.test('the input buffer: bytes come out as they went in, within the budget', async (t) => {
  const input = new InputAudio();
  const budget = 200_000;
  const random = seeded(5);
  let expected = Buffer.alloc(0);
  for (let step = 0; step < 3000; step += 1) {
    const bytes = Buffer.alloc(Math.floor(random() ** 8 * 40_000), Math.floor(random() * 256));
    const text = bytes.toString('base64');
    const unpadded = random() < 0.5 ? text.replace(/=+$/, '') : text;
    const outcome = input.append(random() < 0.05 ? `${unpadded}%` : unpadded, budget);
    if (outcome === 'taken') expected = Buffer.concat([expected, bytes]);
    if (outcome === 'full') t.ok(expected.length + bytes.length > budget);
    if (input.bytes !== expected.length || input.bytes > budget) return t.fail(`step ${step}`);
    if (random() > 0.01) continue;
    const taken = input.take();
    t.ok(Buffer.concat(taken.chunks).equals(expected), `step ${step}`);
    t.equal(taken.bytes, expected.length);
    if (random() < 0.5) input.putBack(taken);
    else expected = Buffer.alloc(0);
  }
  t.equal(input.append('A', budget), 'malformed');
  t.equal(input.append('', budget), 'taken', 'no bytes at all');
});

t.test('the input buffer: what comes back stands in front, in the order in which it was taken', async (t) => {
  const input = new InputAudio();
  const take = (byte: number) => {
    input.append(base64(byte), 100);
    return input.take();
  };
  const [one, two, three] = [take(1), take(2), take(3)];
  input.append(base64(4), 100);
  input.putBack(two);
  input.putBack(three);
  input.putBack(one);
  t.equal(input.bytes, 4);
  t.strictSame(bytesOf(input.take().chunks), [1, 2, 3, 4]);
  t.equal(input.bytes, 0);
});

t.test('the input buffer: many small appends cost no more than their bytes', async (t) => {
  const input = new InputAudio();
  for (let index = 0; index < 100_000; index += 1) input.append('AAA=', 10 ** 6);
  const { chunks, bytes } = input.take();
  t.equal(bytes, 200_000);
  t.ok(chunks.length < 10, `${chunks.length} chunks`);
});

const limits = {
  pendingItems: 8,
  finishedItems: 6,
  bufferedAudioBytes: 1000,
  pendingTextBytes: 500,
  finishedTextBytes: 300,
};

t.test('the conversation on a random walk keeps its budgets', async (t) => {
  const random = seeded(7);
  const forgotten: string[] = [];
  const conversation = new Conversation(
    (id) => forgotten.push(id),
    limits as unknown as typeof LIMITS.realtime,
  );
  let refused = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const id = `i${step}`;
    const known = conversation.ids[Math.floor(random() * conversation.ids.length)];
    const isSpoken = random() < 0.5;
    const bytes = Math.floor(random() * 400);
    const item: ConversationItem = {
      id,
      role: 'user',
      status: 'completed',
      parts: [{ type: 'input_text', text: 'a'.repeat(random() * 100) }],
      unspoken: isSpoken,
      unheard: isSpoken ? undefined : { chunks: [], bytes, order: 0 },
    };
    const move = random();
    if (move < 0.5 && conversation.admits(item, 0))
      conversation.add(item, random() < 0.8 ? undefined : (known ?? null));
    else if (move < 0.5) refused += 1;
    else if (known && move < 0.6) conversation.remove(known);
    else if (known && random() < 0.5)
      conversation.change(known, (entry) => {
        entry.unspoken = false;
        entry.unheard = undefined;
      });
    const all = conversation.ids.map((each) => conversation.get(each)!);
    const pending = all.filter(({ unspoken, unheard }) => unspoken || unheard);
    const finished = all.filter(({ unspoken, unheard }) => !unspoken && !unheard);
    const size = (items: ConversationItem[]) =>
      items.reduce((sum, { parts }) => sum + (parts[0]?.text?.length ?? 0), 0);
    const audio = pending.reduce((sum, { unheard }) => sum + (unheard?.bytes ?? 0), 0);
    const holds =
      pending.length <= limits.pendingItems &&
      finished.length <= limits.finishedItems &&
      size(pending) <= limits.pendingTextBytes &&
      size(finished) <= limits.finishedTextBytes &&
      audio <= limits.bufferedAudioBytes &&
      conversation.audioBytes === audio &&
      conversation.isFull === (pending.length === limits.pendingItems);
    if (!holds) return t.fail(`step ${step}`);
  }
  t.ok(refused > 100 && forgotten.length > 100, `${refused} refused, ${forgotten.length} forgotten`);
});

t.test('the shelf: bounded, of one item and in all', async (t) => {
  const shelf = new AudioShelf(10_000);
  const clip = (bytes: number) =>
    ({ chunks: [Buffer.alloc(bytes, 1)], format: 'pcm', sampleRate: 8000 }) as const;
  for (let index = 0; index < 100; index += 1) shelf.put('s', `i${index}`, clip(1000));
  t.equal(shelf.size, 6);
  t.equal(shelf.get('s', 'i99')[0]?.length, 1000);
  t.strictSame(shelf.get('s', 'i0'), []);
  t.strictSame(shelf.get('other', 'i99'), [], 'of one session only');
  shelf.cut('s', 'i99', 10);
  t.equal(shelf.get('s', 'i99')[0]?.length, 160);
  shelf.put('s', 'i', { ...clip(100), format: 'mp3' });
  shelf.cut('s', 'i', 10);
  t.strictSame(shelf.get('s', 'i'), [], 'what cannot be cut is dropped');
  const large = new AudioShelf();
  large.put('s', 'i', clip(LIMITS.realtime.readableAudioBytes.item + 1));
  t.equal(large.size, 0);
});

type Order = { readonly audio: number } | 'end' | ServiceError;

interface Job {
  readonly request: SynthesisRequest;
  readonly signal: AbortSignal;
  readonly orders: Order[];
  wake: () => void;
  over: boolean;
}

/** A speech port that does for each job what it is told. */
class ToldSpeech {
  readonly jobs: Job[] = [];
  readonly port = {
    synthesizeTimed: (request: SynthesisRequest, _caller: unknown, signal: AbortSignal) =>
      this.#speak(request, signal),
  } as unknown as Speech;

  tell(job: number, order: Order): void {
    this.jobs[job]?.orders.push(order);
    this.jobs[job]?.wake();
  }

  async *#speak(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<TimedAudio> {
    const job: Job = { request, signal, orders: [], wake: () => undefined, over: false };
    this.jobs.push(job);
    signal.addEventListener('abort', () => job.wake());
    const piece = {
      index: 0,
      text: request.text,
      at: 0,
      offset: 0,
      duration: 1,
      complete: false,
      words: undefined,
    };
    try {
      for (;;) {
        // An engine may go on for a while after an abort: only what the host lets out counts.
        const order = job.orders.shift();
        if (order === 'end') return;
        if (order instanceof ServiceError) throw order;
        if (order) yield { audio: Uint8Array.of(order.audio), piece, end: 1 };
        else if (signal.aborted) throw signal.reason as Error;
        else await new Promise<void>((resolve) => (job.wake = resolve));
      }
    } finally {
      job.over = true;
    }
  }
}

interface Listening {
  readonly request: TranscriptionRequest;
  readonly signal: AbortSignal;
  hear(segment: string): void;
  end(outcome: Transcript | ServiceError): void;
}

class ToldTranscription {
  readonly jobs: Listening[] = [];
  readonly port: Transcription = {
    transcribe: (request, _caller, signal, heard) =>
      new Promise((resolve, reject) => {
        this.jobs.push({
          request,
          signal,
          hear: (text) => heard?.({ text, start: 0, end: 1 } as TranscriptSegment),
          end: (outcome) => (outcome instanceof ServiceError ? reject(outcome) : resolve(outcome)),
        });
      }),
  };
}

function open(client: Partial<RealtimeClient> = {}) {
  const speech = new ToldSpeech();
  const transcription = new ToldTranscription();
  const clock = new SimulatedClock();
  const shelf = new AudioShelf();
  const gone = new AbortController();
  const log: ServerEvent[] = [];
  let readable = true;
  let waiting: (() => void)[] = [];
  const release = (): void => {
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  const socket: Socket = {
    send: (data) => void log.push(JSON.parse(String(data)) as ServerEvent),
    queuedBytes: 0,
    drained: () => (readable ? Promise.resolve() : new Promise((resolve) => void waiting.push(resolve))),
    close: () => gone.abort(),
    signal: gone.signal,
  };
  const parts = {
    speech: speech.port,
    transcription: transcription.port,
    vocabulary: defaultVocabulary,
    clock,
    log: silentLog,
  } as Partial<ProtocolAParts> as ProtocolAParts;
  const ends: string[] = [];
  const session = new RealtimeSession(
    socket,
    {
      caller: { workspaceId: 'w', keyId: 'k' },
      generationId: 'gen-0',
      options: {},
      trace: { traceparent: '', engine: () => undefined },
      hasOptionHeaders: false,
      settings: defaultSettings('realtime', defaultVocabulary),
      ...client,
    },
    parts,
    shelf,
    () => void ends.push('ended'),
  );
  return {
    speech,
    transcription,
    clock,
    shelf,
    log,
    ends,
    session,
    send: (type: string, fields: object = {}) => session.message(JSON.stringify({ type, ...fields })),
    of: (type: string) => log.filter((event) => event.type === type),
    leave() {
      gone.abort();
      release();
      session.closed();
    },
    read(now: boolean) {
      readable = now;
      if (now) release();
    },
  };
}

const text = (text: string, id?: string) => ({
  item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

t.test('appends in every spelling', async (t) => {
  const { session, of } = open();
  const type = '"type":"input_audio_buffer.append"';
  const frames = [
    `{${type},"audio":"AAEC"}`,
    '{"type": "input_audio_buffer.append", "audio": "AwQF"}',
    `{${type},"audio":"BgcI","event_id":"e"}`,
    `{"audio":"CQoL",${type}}`,
    `{${type},"audio":"\\u0044A0O"}`,
    `{${type},"audio":"Dx\\u0041R"}`,
    `{${type},"audio":"data:audio/wav;base64,EhMU"}`,
    `{${type},"audio":""}`,
  ];
  for (const frame of frames) session.message(frame);
  t.strictSame(of('error'), []);
  t.strictSame(
    bytesOf(session.input.take().chunks),
    Array.from({ length: 21 }, (_, byte) => byte),
  );
  session.message(`{${type},"audio":"AA","audio":"%"}`);
  session.message(`{${type},"audio":"AA"} "}`);
  session.message(`{${type},"audio":"A\\"}`);
  t.match(of('error'), Array(3).fill({ error: { code: 'invalid_event' } }));
  t.equal(session.input.bytes, 0);
});

t.test('a failed transcription puts its audio back in front, and the next commit holds it', async (t) => {
  const { send, transcription, of, session } = open();
  const heard = (job: number) => {
    const { audio } = transcription.jobs[job]!.request;
    return 'chunks' in audio ? bytesOf(audio.chunks) : [];
  };
  for (const byte of [1, 2]) {
    send('input_audio_buffer.append', { audio: base64(byte, byte) });
    send('input_audio_buffer.commit');
  }
  send('input_audio_buffer.append', { audio: base64(3, 3) });
  await turn();
  transcription.jobs[1]?.end(new ServiceError('concurrency_exceeded', { retryAfter: 1 }));
  transcription.jobs[0]?.end(new ServiceError('engine_lost'));
  await turn();
  const failures = of(`${TRANSCRIPTION}.failed`);
  t.match(failures, [
    { content_index: 0, error: { type: 'rate_limit_error', code: 'concurrency_exceeded', message: String } },
    { error: { type: 'server_error', code: 'engine_lost' } },
  ]);
  t.notOk(
    failures.some(({ error }) => 'param' in (error as object)),
    'a param that is null is refused by clients',
  );
  t.equal(session.input.bytes, 6);
  t.equal(session.conversation.audioBytes, 0);
  send('input_audio_buffer.commit');
  await turn();
  t.strictSame(heard(2), [1, 1, 2, 2, 3, 3]);
});

t.test('audio of another format does not come back', async (t) => {
  const { send, transcription, session } = open();
  send('input_audio_buffer.append', { audio: base64(1, 1) });
  send('input_audio_buffer.commit');
  send('session.update', { session: { audio: { input: { format: { type: 'audio/pcm', rate: 8000 } } } } });
  await turn();
  transcription.jobs[0]?.end(error);
  await turn();
  t.equal(session.input.bytes, 0);
});

t.test('a file goes to the transcriber in one piece, raw audio with its rate', async (t) => {
  const { send, transcription } = open();
  const input = { format: 'audio/wav' };
  send('session.update', { session: { audio: { input, output: {} } } });
  for (const byte of [1, 2]) send('input_audio_buffer.append', { audio: base64(byte) });
  send('input_audio_buffer.commit');
  await turn();
  t.strictSame([...(transcription.jobs[0]?.request.audio as Uint8Array)], [1, 2]);
  send('session.update', {
    session: {
      audio: { input: { format: { type: 'audio/pcm', rate: 8000 }, transcription: { language: 'de' } } },
    },
  });
  send('input_audio_buffer.append', { audio: base64(3, 3) });
  send('input_audio_buffer.commit');
  await turn();
  t.match(transcription.jobs[1]?.request, {
    audio: { sampleRate: 8000 },
    model: 'transcribe-1',
    language: 'de',
  });
});

t.test('deltas of a transcript end where it ends, whatever was heard before', async (t) => {
  const { send, transcription, of } = open();
  send('input_audio_buffer.append', { audio: base64(1, 1) });
  send('input_audio_buffer.commit');
  await turn();
  for (const segment of ['One.', '', 'Two.']) transcription.jobs[0]?.hear(segment);
  transcription.jobs[0]?.end(transcriptOf('One. Two. Three.'));
  await turn();
  t.strictSame(
    of(`${TRANSCRIPTION}.delta`).map(({ delta }) => delta),
    ['One.', ' Two.', ' Three.'],
  );
  t.match(of(`${TRANSCRIPTION}.completed`), [{ transcript: 'One. Two. Three.' }]);
});

t.test('an item that is deleted is not transcribed, also where its id is used again', async (t) => {
  const { send, transcription, of } = open();
  const audio = { item: { id: 'a', role: 'user', content: [{ type: 'input_audio', audio: base64(1, 1) }] } };
  send('conversation.item.create', audio);
  await turn();
  send('conversation.item.delete', { item_id: 'a' });
  t.ok(transcription.jobs[0]?.signal.aborted);
  send('conversation.item.create', audio);
  await turn();
  transcription.jobs[0]?.hear('old');
  transcription.jobs[0]?.end(transcriptOf('old'));
  await turn();
  t.equal(of(`${TRANSCRIPTION}.delta`).length + of(`${TRANSCRIPTION}.completed`).length, 0);
  transcription.jobs[1]?.end(transcriptOf('new'));
  await turn();
  t.match(of(`${TRANSCRIPTION}.completed`), [{ transcript: 'new' }]);
});

t.test('a response whose first audio is late fails', async (t) => {
  const { send, clock, of, speech } = open();
  send('conversation.item.create', text('a'));
  send('response.create');
  await turn();
  clock.advance(LIMITS.http.firstByteMs);
  t.match(of('error'), [{ error: { code: 'first_byte_timeout', type: 'server_error' } }]);
  t.match(of('response.done'), [{ response: { status: 'failed' } }]);
  await turn();
  t.ok(speech.jobs[0]?.over);
  t.equal(clock.pending, 0);
});

t.test('a cancel lets go of the speech port, also while the client does not read', async (t) => {
  const { send, speech, read, clock } = open();
  send('conversation.item.create', text('a'));
  send('response.create');
  await turn();
  read(false);
  speech.tell(0, { audio: 1 });
  await turn();
  send('response.cancel');
  await turn();
  t.ok(speech.jobs[0]?.over);
  t.equal(clock.pending, 0);
});

t.test('a client that does not read is given no more, and goes on where it stood', async (t) => {
  const { send, speech, of, read } = open();
  send('conversation.item.create', text('a'));
  send('response.create');
  await turn();
  read(false);
  for (let audio = 1; audio <= 5; audio += 1) speech.tell(0, { audio });
  await turn();
  t.equal(of('response.output_audio.delta').length, 1);
  t.equal(speech.jobs[0]?.orders.length, 4);
  read(true);
  await turn();
  t.equal(of('response.output_audio.delta').length, 5);
});

/** What is wrong with what a client was sent, as words. */
function wrongIn(log: readonly ServerEvent[]): string[] {
  const wrong: string[] = [];
  let live: string | undefined;
  const ended = new Set<string>();
  const deleted = new Set<unknown>();
  for (const event of log) {
    const { id } = (event['response'] ?? {}) as { id?: string };
    const response = event['response_id'];
    if (event.type === 'response.created') {
      if (live) wrong.push('two responses at once');
      live = id;
    } else if (event.type === 'response.done') {
      if (id !== live || !id) wrong.push('an end of no live response');
      if (ended.has(id ?? '')) wrong.push('two ends');
      ended.add(id ?? '');
      live = undefined;
    } else if (response !== undefined && response !== live) wrong.push(`${event.type} of another response`);
    if (event.type === 'conversation.item.deleted') deleted.add(event['item_id']);
    else if (event.type.startsWith(TRANSCRIPTION) && deleted.has(event['item_id']))
      wrong.push('a transcript of a deleted item');
    if (event.type === 'response.output_audio.delta') {
      const [byte] = Buffer.from(String(event['delta']), 'base64');
      if (byte !== ended.size % 256) wrong.push(`audio of job ${byte} while ${ended.size} is due`);
    }
    if (/completed$/.test(event.type) && !String(event['transcript']).endsWith(`${event['item_id']}`))
      wrong.push('a transcript of another item');
  }
  return wrong;
}

t.test(
  'the session on a random walk: every event belongs where it stands, and nothing is left behind',
  async (t) => {
    for (const seed of SEEDS) {
      const random = seeded(100 + seed);
      let spoken = 0;
      let heard = 0;
      for (let step = 0; step < STEPS;) {
        const world = open();
        const { speech, transcription, clock, log, session, send, leave, read, shelf } = world;
        const ids = () => session.conversation.ids;
        const someId = () => ids()[Math.floor(random() * ids().length)] ?? 'none';
        const lastJob = () => speech.jobs.length - 1;
        // Each transcription ends with the id of the item that it was begun for.
        const begun = () => log.filter(({ type }) => type === 'input_audio_buffer.committed').length;
        const names = new Map<Listening, string>();
        const name = () => {
          for (const [id, job] of pendingJobs()) names.set(job, id);
        };
        const pendingJobs = (): [string, Listening][] => {
          const unheard = ids().filter((id) => session.conversation.get(id)?.unheard);
          return unheard.flatMap((id) => {
            const own = session.conversation.get(id)?.unheard?.chunks;
            const job = transcription.jobs.find(
              ({ request }) => 'chunks' in request.audio && request.audio.chunks === own,
            );
            return job ? [[id, job] as [string, Listening]] : [];
          });
        };
        const endOne = (outcome: (id: string) => Transcript | ServiceError) => {
          name();
          const job = transcription.jobs[Math.floor(random() * transcription.jobs.length)];
          const id = job && names.get(job);
          if (job && id) job.end(outcome(id));
        };
        let left = false;
        const moves: [() => void, ...(() => void)[]] = [
          () => send('conversation.item.create', text('a b', random() < 0.2 ? someId() : undefined)),
          () => send('conversation.item.delete', { item_id: someId() }),
          () => send('conversation.item.retrieve', { item_id: someId() }),
          () => send('conversation.item.truncate', { item_id: someId(), content_index: 0, audio_end_ms: 0 }),
          () => send('response.create'),
          () => send('response.create', { response: { input: [{ type: 'item_reference', id: someId() }] } }),
          () => send('response.create', { response: { conversation: 'none' } }),
          () => send('response.cancel'),
          () => speech.tell(lastJob(), { audio: lastJob() % 256 }),
          () => speech.tell(lastJob(), { audio: lastJob() % 256 }),
          () => speech.tell(Math.max(0, lastJob() - 1), { audio: Math.max(0, lastJob() - 1) % 256 }),
          () => speech.tell(lastJob(), 'end'),
          () => random() < 0.3 && speech.tell(lastJob(), error),
          () => send('input_audio_buffer.append', { audio: base64(1, 2, 3, 4) }),
          () => send('input_audio_buffer.append', { audio: base64(5, 6) }),
          () => send('input_audio_buffer.commit'),
          () => send('input_audio_buffer.clear'),
          () => endOne((id) => transcriptOf(`text of ${id}`)),
          () => endOne((id) => transcriptOf(`text of ${id}`)),
          () => random() < 0.3 && endOne(() => error),
          () => clock.advance(random() * 1000),
          () => read(random() < 0.8),
          () => random() < 0.01 && (leave(), (left = true)),
        ];
        for (let walk = 0; walk < 1000 && !left && step < STEPS; walk += 1, step += 1) {
          pick(random, moves)();
          if (random() < 0.5) await turn();
          const bytes = session.conversation.audioBytes + session.input.bytes;
          if (bytes > LIMITS.realtime.bufferedAudioBytes) return t.fail('more audio than the budget holds');
        }
        const sent = log.length;
        if (!left) leave();
        for (const job of speech.jobs.keys()) speech.tell(job, { audio: 0 });
        for (const job of transcription.jobs) job.end(transcriptOf('late'));
        await turn();
        await turn();
        t.equal(log.length, sent, 'nothing is sent to a client that has gone');
        t.ok(
          speech.jobs.every(({ over }) => over),
          'no synthesis is left',
        );
        t.equal(clock.pending, 0, 'no timer is left');
        t.equal(shelf.size, 0, 'no audio is left');
        t.strictSame(world.ends, ['ended']);
        spoken += world.of('response.done').length;
        heard += Math.min(begun(), world.of(`${TRANSCRIPTION}.completed`).length);
        if (!t.strictSame(wrongIn(log), [], `seed ${seed}, step ${step}`)) return;
      }
      t.ok(spoken > 200 && heard > 80, `${spoken} responses, ${heard} transcripts`);
    }
  },
);
