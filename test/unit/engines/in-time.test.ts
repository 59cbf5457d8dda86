/** What is done about models, voices and recognisers that fail somebody on the line: docs/voice-agents.md, row by row. */
import t from '../../fixtures/tap.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { bytesOf } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { ONLINE_TIMES } from '../../../contracts/limits/online-times.js';
import {
  type ChatEvent,
  type ChatModel,
  ContextExceeded,
  ModelUnanswered,
} from '../../../contracts/ports/chat.js';
import type { EngineFailure, SpeechOptions, TextPart } from '../../../contracts/ports/speech/speech.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import { ChatWithFallback } from '../../../engines/chat/with-fallback.js';
import { inTime } from '../../../engines/in-time.js';
import type { Transcriber } from '../../../engines/long-audio.js';
import { createRegistry } from '../../../engines/registry.js';
import { createSpeech } from '../../../engines/synthesize.js';
import { createTranscription } from '../../../engines/transcribe.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import {
  inTurn,
  joined as joinedCall,
  type Answer,
  saying,
  webhookTool,
} from '../../fixtures/conversation/hosted.js';
import { until } from '../../fixtures/until.js';
import { standIn } from '../../fixtures/stand-in.js';

const caller = { workspaceId: 'w', keyId: 'k' };
const { signal: going } = new AbortController();
const failed = (status = 502): ServiceError => new ServiceError('provider_failed', { status });

const CALLS = Symbol('calls');

/** What a model does when it is asked: an event, an error, or nothing until it is stopped. */
type Step = string | Error | typeof CALLS | undefined;

function model(name: string, asked: string[], ...answers: (readonly Step[])[]): ChatModel {
  return {
    name,
    async *chat(_request, signal): AsyncGenerator<ChatEvent> {
      asked.push(name);
      for (const step of answers.shift() ?? [name]) {
        if (step instanceof Error) throw step;
        if (step === CALLS) yield { kind: 'calls', calls: [{ id: '1', name: 'look', arguments: '{}' }] };
        else if (step !== undefined) yield { kind: 'text', text: step };
        else
          await new Promise((_, reject) =>
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
          );
      }
    },
  };
}

/** Asks a first model that answers so, and a second one if there are answers of it. */
async function asked(first: (readonly Step[])[], second?: (readonly Step[])[]) {
  const clock = new SimulatedClock();
  const names: string[] = [];
  const named = (name: string, answers: (readonly Step[])[]) => ({
    ...{ chat: model(name, names, ...answers), address: `${name}.example`, setting: name },
  });
  const chat = new ChatWithFallback({
    ...{ first: named('first', first), second: second && named('second', second), clock },
    firstWordMs: second ? ONLINE_TIMES.model.firstOfTwoMs : ONLINE_TIMES.model.firstWordMs,
  });
  let said = '';
  const failures: string[] = [];
  let error: unknown;
  const over = (async () => {
    for await (const event of chat.chat({ messages: [], tools: [], passages: [] }, going)) {
      if (event.kind === 'text') said += event.text;
      if (event.kind === 'calls') said += '(calls)';
      if (event.kind === 'failed') failures.push(`${event.failure.setting}>${event.failure.next ?? ''}`);
    }
  })().catch((reason: unknown) => (error = reason));
  let isOver = false;
  void over.finally(() => (isOver = true));
  for (let waited = 0; !isOver && waited < 400; waited += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (waited % 4 === 3) clock.advance(250);
  }
  await over;
  return { names, said, failures, error, ms: clock.now() };
}

t.test('a request to which nothing was answered is sent once more, and a third time never', async (t) => {
  const gone = new ModelUnanswered(failed(503));
  exactly(t, await asked([[gone], ['Yes.']]), { names: ['first', 'first'], said: 'Yes.', error: undefined });
  exactly(t, await asked([[gone], [gone]]), { names: ['first', 'first'], said: '', error: { status: 503 } });
  exactly(t, await asked([[failed(401)]]), { names: ['first'], error: { status: 401 } }, 'an answer is one');
});

t.test('nothing is asked again after a word, or a tool call', async (t) => {
  for (const step of ['Let me', CALLS] as const) {
    const told = await asked([[step, new ModelUnanswered(failed())]], [[]]);
    exactly(t, told, { names: ['first'], error: { code: 'provider_failed' } });
  }
});

t.test('a model that says no word in time is stopped, whatever else it sends', async (t) => {
  for (const thinking of [[undefined], ['\n', ' ', undefined]]) {
    const told = await asked([thinking]);
    exactly(t, told, { names: ['first'], said: '', error: { code: 'first_byte_timeout' } });
    t.ok(told.ms >= ONLINE_TIMES.model.firstWordMs && told.ms < ONLINE_TIMES.model.firstWordMs + 1000);
  }
});

t.test('a second model is asked after four seconds, and has what is left of ten', async (t) => {
  const told = await asked([[undefined]], [['Here I am.']]);
  exactly(t, told, { names: ['first', 'second'], said: 'Here I am.', failures: ['first>second'] });
  t.ok(told.ms >= ONLINE_TIMES.model.firstOfTwoMs);
  const neither = await asked([[undefined]], [[undefined]]);
  exactly(t, neither, { names: ['first', 'second'], error: { code: 'first_byte_timeout' } });
  t.ok(neither.ms >= ONLINE_TIMES.model.wholeMs && neither.ms < ONLINE_TIMES.model.wholeMs + 1000);
  exactly(t, await asked([[failed(429)]], [['Yes.']]), { said: 'Yes.' }, 'at once where the first refuses');
});

t.test(
  'a model that stops in the middle is not waited for, and refusals are left to who can mend them',
  async (t) => {
    const told = await asked([['Let me see', undefined]], [['No.']]);
    exactly(t, told, { names: ['first'], said: 'Let me see', error: { code: 'first_byte_timeout' } });
    exactly(t, await asked([[new ContextExceeded(0.5)]], [['No.']]), { names: ['first'] });
  },
);

const options: SpeechOptions = {
  ...{ model: 's2.1-pro', voice: '', references: [], latency: 'low', speed: 1, volume: 0 },
  ...{ normalizeLoudness: false, chunkLength: 200, sampling: {}, likelyLanguage: 'en' },
  output: resolveOutput({ format: 'pcm', sampleRate: 16_000 }),
};

/** An engine whose every sample is `value`; `fails` is asked for each sentence. */
function voice(name: string, value: number, fails: (text: string) => Error | 'empty' | undefined): TtsEngine {
  return {
    name,
    capabilities: { ...fliteDescription.capabilities, languages: ['en'], sampleRate: 16_000, timing: 'none' },
    voices: [{ name, title: name, languages: ['en'] }],
    async *synthesize({ text }) {
      const failure = fails(text);
      if (failure instanceof Error) throw failure;
      if (failure !== 'empty') yield { kind: 'audio', samples: new Int16Array(1600).fill(value) };
    },
  };
}

async function* parts(...texts: string[]): AsyncGenerator<TextPart> {
  for (const text of texts) yield { kind: 'text', text };
}

/** Speaks the sentences; returns the values of the samples, a tenth of a second each, and the failures. */
async function spoken(engines: readonly TtsEngine[], ...texts: string[]) {
  const failures: EngineFailure[] = [];
  const registry = createRegistry({ tts: engines, stt: [] });
  const speech = createSpeech({
    registry,
    voices: { find: () => Promise.resolve(undefined) } as never,
    admission: { enter: () => Promise.resolve(() => undefined), use: () => undefined } as never,
    async *encode(pcm) {
      for await (const samples of pcm) yield bytesOf(samples);
    },
  });
  const standIn = { failed: (failure: EngineFailure) => void failures.push(failure) };
  const request = { ...options, text: parts(...texts), standIn };
  const heard: number[] = [];
  for await (const audio of speech.synthesize(request, caller, going)) {
    const samples = new Int16Array(audio.buffer, audio.byteOffset, audio.length / 2);
    for (let at = 0; at < samples.length; at += 1600) heard.push(samples[at] ?? 0);
  }
  return { heard, failures };
}

const never = () => undefined;

t.test('a voice that fails, or says nothing, is replaced by another engine of the list', async (t) => {
  for (const failure of [failed(500), failed(401), 'empty'] as const) {
    const engines = [voice('one', 1, () => failure), voice('two', 2, never)];
    const told = await spoken(engines, 'One sentence. ', 'Another one.');
    t.same(told.heard, [2, 2]);
    exactly(
      t,
      told.failures,
      [{ engine: 'one', next: 'two' }],
      'the first is not asked again for this answer',
    );
  }
});

t.test('a second sentence that fails does not take the first one back', async (t) => {
  const engines = [
    voice('one', 1, (text) => (text.startsWith('Another') ? failed() : undefined)),
    voice('two', 2, never),
  ];
  t.same((await spoken(engines, 'One sentence. ', 'Another one.')).heard, [1, 2]);
});

t.test('without another voice the failure is told', async (t) => {
  await rejectsExactly(t, spoken([voice('one', 1, () => failed())], 'One.'), { code: 'provider_failed' });
});

t.test('who gives nothing in time is stopped', async (t) => {
  let stopped = false;
  async function* hangs(signal: AbortSignal): AsyncGenerator<number> {
    yield 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    stopped = true;
  }
  const values: number[] = [];
  await rejectsExactly(
    t,
    (async () => {
      for await (const value of inTime(hangs, () => 20, going)) values.push(value);
    })(),
    { code: 'first_byte_timeout' },
  );
  await until('it is stopped', () => stopped);
  t.same(values, [1]);
});

function recogniser(name: string, error?: Error): Transcriber {
  return standIn<Transcriber>({
    ...{ name, languages: ['en'] },
    async *transcribe(audio: AsyncIterable<Int16Array>) {
      let length = 0;
      for await (const samples of audio) length += samples.length;
      if (error) throw error;
      yield { text: `${name} ${length}`, start: 0, end: 1 };
    },
  });
}

t.test('a recogniser that fails is replaced by the next one, which gets the same audio', async (t) => {
  const failures: EngineFailure[] = [];
  const transcribe = (...stt: Transcriber[]) =>
    createTranscription({
      registry: createRegistry({ tts: [], stt }),
      admission: standIn({ enter: () => Promise.resolve(() => undefined), use: () => undefined }),
      decode: (() => undefined) as never,
    }).transcribe(
      {
        audio: { chunks: [new Uint8Array(3200)], sampleRate: 16_000 },
        ...{ model: 'transcribe-1', language: 'en', standIn: { failed: (each) => void failures.push(each) } },
      },
      caller,
      going,
    );
  t.equal((await transcribe(recogniser('one', failed(429)), recogniser('two'))).text, 'two 1600');
  exactly(t, failures, [{ engine: 'one', code: 'provider_failed', next: 'two' }]);
  await rejectsExactly(t, transcribe(recogniser('one', failed())), { code: 'provider_failed' });
});

t.test('words that no recogniser gets are asked for again, with an error and a turn', async (t) => {
  const hosted = joinedCall(t, { hears: [Promise.reject(failed())] });
  hosted.speak();
  await until('the excuse', () => hosted.items.length >= 1);
  t.match(hosted.messages[0], /did not get that/);
  exactly(
    t,
    hosted.sent.filter(({ type }) => type === 'error'),
    [{ code: 'provider_error' }],
  );
  exactly(t, hosted.turns.at(-1), { error: 'provider_failed' });
});

const breaks: Answer = () => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(failed()) }),
});

t.test('three failed answers in a row end the call with an apology', async (t) => {
  const hosted = joinedCall(t, { answer: breaks });
  for (const items of [2, 4, 6]) await hosted.type('Hello?', items);
  await hosted.conversation.over;
  t.match(hosted.messages.at(-1), /Please call again later/);
  exactly(t, hosted.sent.at(-1), { type: 'session.ended' });
});

t.test('a tool that takes long behind some words: the silence is filled', async (t) => {
  const looks: Answer = async function* () {
    yield { kind: 'text', text: 'Let me look.' };
    yield { kind: 'calls', calls: [{ id: 'a', name: 'look', arguments: '{}' }] };
  };
  let toolSays = (_answer: string): void => undefined;
  const clock = new SimulatedClock();
  const hosted = joinedCall(t, {
    ...{ answer: inTurn(looks, saying('It is 42.')), tools: [webhookTool('look')], clock, lasting: true },
    toolSays: () => new Promise((resolve) => (toolSays = resolve)),
  });
  const spoken = async (what: string, by: () => void): Promise<void> => {
    const before = hosted.played;
    by();
    await until(what, () => hosted.played > before);
  };
  await spoken('its words', () => hosted.client({ type: 'user.message', text: 'What is it?' }));
  await until('the tool is called', () => hosted.requests.length > 0);
  hosted.happen({ kind: 'played', utterance: 1, ms: 100, ended: false });
  await until('they are heard', () => hosted.shown.some(({ text }) => text.includes('look')));
  await spoken('the filler', () => clock.advance(ONLINE_TIMES.filler.againMs));
  await spoken('the answer', () => toolSays('42'));
  hosted.happen({ kind: 'played', utterance: 1, ms: 300, ended: true });
  await until('all is kept', () => hosted.items.length === 6);
  t.same(
    hosted.messages.filter((message) => message.startsWith('assistant')),
    ['assistant: Let me look.', 'assistant: It is 42.', 'assistant: One moment, please.'],
  );
  let isOver = false;
  void hosted.over().then(() => (isOver = true));
  await until('it is over', () => (clock.advance(1000), isOver));
});

t.test('a sentence that was made is heard although the model fails behind it', async (t) => {
  const answer: Answer = async function* () {
    yield { kind: 'text', text: 'The first sentence.' };
    throw failed();
  };
  const hosted = joinedCall(t, { answer });
  await hosted.type('Hello?', 3);
  t.same(hosted.messages.slice(0, 2), ['user: Hello?', 'assistant: The first sentence.']);
  t.match(hosted.messages[2], /could not answer/);
});
