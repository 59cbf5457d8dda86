/**
 * The host of protocol A's realtime session: appends, commits and their transcripts, responses and readers, and a
 * random walk over all of it (docs/contract/protocol-a.md 5).
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import type { Transcript } from '../../../../../../contracts/ports/speech/speech.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { shortOrLong } from '../../../../../fixtures/long.js';
import { pick, seeded } from '../../../../../fixtures/random.js';
import { base64, bytesOf, type Listening, open } from '../../../../../fixtures/protocol-a/realtime-host.js';
import type { ServerEvent } from '../../../../../fixtures/protocol-a/realtime-client.js';
import { transcriptOf } from '../../../../../fixtures/engines/transcript.js';

const STEPS = shortOrLong(2500, 50_000);
const SEEDS = [1, 2, 3];

const error = new ServiceError('engine_failed');

const text = (text: string, id?: string) => ({
  item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

t.test('appends are taken in every spelling, and refused where they are broken', async (t) => {
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
    bytesOf(session.input.takeFile().chunks),
    Array.from({ length: 21 }, (_, byte) => byte),
  );
  session.message(`{${type},"audio":"AA","audio":"%"}`);
  session.message(`{${type},"audio":"AA"} "}`);
  session.message(`{${type},"audio":"A\\"}`);
  exactly(t, of('error'), Array(3).fill({ error: { code: 'invalid_event' } }));
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
  exactly(t, failures, [
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

t.test('a file does not come back, nor audio that is too long: no later commit fails with it', async (t) => {
  const cases = [
    ['audio/wav', 'audio_unreadable'],
    ['audio/mp3', 'concurrency_exceeded'],
    ['audio/pcm', 'audio_too_long'],
  ] as const;
  for (const [format, code] of cases) {
    const { send, transcription, session, of } = open();
    send('session.update', { session: { audio: { input: { format } } } });
    send('input_audio_buffer.append', { audio: base64(1, 1) });
    send('input_audio_buffer.commit');
    await turn();
    transcription.jobs[0]?.end(new ServiceError(code));
    await turn();
    exactly(t, of(`${TRANSCRIPTION}.failed`), [{ error: { code } }]);
    t.equal(session.input.bytes, 0, format);
  }
});

t.test('a file goes to the transcriber in one piece, raw audio with its rate', async (t) => {
  const { send, transcription } = open();
  const input = { format: 'audio/wav' };
  send('session.update', { session: { audio: { input, output: {} } } });
  for (const byte of [1, 2]) send('input_audio_buffer.append', { audio: base64(byte) });
  send('input_audio_buffer.commit');
  await turn();
  t.strictSame(Array.from(transcription.jobs[0]?.request.audio as Uint8Array), [1, 2]);
  send('session.update', {
    session: {
      audio: { input: { format: { type: 'audio/pcm', rate: 8000 }, transcription: { language: 'de' } } },
    },
  });
  send('input_audio_buffer.append', { audio: base64(3, 3) });
  send('input_audio_buffer.commit');
  await turn();
  exactly(t, transcription.jobs[1]?.request, {
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
  exactly(t, of(`${TRANSCRIPTION}.completed`), [{ transcript: 'One. Two. Three.' }]);
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
  exactly(t, of(`${TRANSCRIPTION}.completed`), [{ transcript: 'new' }]);
});

t.test('an item with the id of one that is being spoken waits for a response of its own', async (t) => {
  const { send, speech } = open();
  send('conversation.item.create', text('old', 'a'));
  send('response.create');
  await turn();
  send('conversation.item.delete', { item_id: 'a' });
  send('conversation.item.create', text('new', 'a'));
  speech.tell(0, 'end');
  await turn();
  send('response.create');
  await turn();
  t.strictSame(
    speech.jobs.map(({ request }) => request.text),
    ['old', 'new'],
  );
});

t.test('audio of an item of the assistant has the output format, by which it is truncated', async (t) => {
  const { send, of } = open();
  send('session.update', { session: { audio: { output: { format: { type: 'audio/pcm', rate: 8000 } } } } });
  const second = Buffer.alloc(16_000).toString('base64');
  const content = [{ type: 'output_audio', audio: second }];
  send('conversation.item.create', { item: { id: 'said', role: 'assistant', content } });
  send('conversation.item.truncate', { item_id: 'said', content_index: 0, audio_end_ms: 500 });
  send('conversation.item.retrieve', { item_id: 'said' });
  t.strictSame(of('error'), []);
  exactly(t, of('conversation.item.retrieved'), [
    { item: { content: [{ audio: Buffer.alloc(8000).toString('base64') }] } },
  ]);
});

t.test('a response whose first audio is late fails', async (t) => {
  const { send, clock, of, speech } = open();
  send('conversation.item.create', text('a'));
  send('response.create');
  await turn();
  clock.advance(LIMITS.http.firstByteMs);
  exactly(t, of('error'), [{ error: { code: 'first_byte_timeout', type: 'server_error' } }]);
  exactly(t, of('response.done'), [{ response: { status: 'failed' } }]);
  await turn();
  t.ok(speech.jobs[0]?.over);
  t.equal(clock.pending, 0);
});

t.test(
  'a response that failed because of its text does not fail the next ones; another failure leaves the text waiting',
  async (t) => {
    const { send, of, speech } = open();
    const respond = async (
      outcome: ServiceError | 'end',
      fields: object = {},
    ): Promise<string | undefined> => {
      send('response.create', fields);
      await turn();
      speech.tell(speech.jobs.length - 1, outcome);
      await turn();
      await turn();
      return speech.jobs.at(-1)?.request.text;
    };
    const reasons = ['nothing_to_say', 'language_unavailable', 'voice_language'] as const;
    for (const [at, code] of reasons.entries()) {
      send('conversation.item.create', text('Waits. ', `waits ${at}`));
      t.equal(await respond(error), 'Waits. ');
      send('conversation.item.create', text('Привет', `unspoken ${at}`));
      t.equal(await respond(new ServiceError(code)), 'Waits. \nПривет', 'the engine was no reason');
      send('conversation.item.create', text('Next. '));
      t.equal(await respond('end'), 'Next. ', code);
    }
    t.equal(of('error').length, 2 * reasons.length);
    const input = [{ type: 'item_reference', id: 'unspoken 0' }];
    t.equal(await respond('end', { response: { input } }), 'Привет', 'it can still be named');
  },
);

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

/** The rules that the events to a client break, in words. */
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
        const { speech, transcription, clock, log, session, send, leave, read, audioCache } = world;
        const ids = () => session.conversation.ids;
        const someId = () => ids()[Math.floor(random() * ids().length)] ?? 'none';
        const lastJob = () => speech.jobs.length - 1;
        // Each transcription ends with the id of the item for which it was begun.
        const begun = () => log.filter(({ type }) => type === 'input_audio_buffer.committed').length;
        const names = new Map<Listening, string>();
        const name = () => {
          for (const [id, job] of pendingJobs()) names.set(job, id);
        };
        const pendingJobs = (): [string, Listening][] => {
          const unheard = ids().filter((id) => session.conversation.get(id)?.untranscribed);
          return unheard.flatMap((id) => {
            const own = session.conversation.get(id)?.untranscribed?.chunks;
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
        t.equal(audioCache.size, 0, 'no audio is left');
        t.strictSame(world.ends, ['ended']);
        spoken += world.of('response.done').length;
        heard += Math.min(begun(), world.of(`${TRANSCRIPTION}.completed`).length);
        if (!t.strictSame(wrongIn(log), [], `seed ${seed}, step ${step}`)) return;
      }
      t.ok(spoken > STEPS / 50 && heard > STEPS / 125, `${spoken} responses, ${heard} transcripts`);
    }
  },
);
