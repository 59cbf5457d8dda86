/** Answers of POST …/audio/transcriptions: every form of a transcript (docs/contract/protocol-a.md 2.3; rule 12). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { type Fields, PLAIN, refusal, SDK } from '../../fixtures/protocol-a/rest.js';
import {
  type Entry,
  form,
  jsonOf,
  MODEL,
  TEXT,
  textOf,
  transcriptions,
} from '../../fixtures/protocol-a/transcriptions.js';

const gateway = await sharedGateway(t);
const { spoken, send, upload, sendJson } = await transcriptions(gateway);

t.test("the inference provider's clients read the id of the request, on its base alone", async (t) => {
  for (const response_format of ['json', 'verbose_json']) {
    const transcript = async (base: string) => {
      const response = await upload([['response_format', response_format]], {}, base);
      return { id: response.headers.get('x-generation-id'), body: await jsonOf<Fields>(response) };
    };
    const { id, body } = await transcript(SDK);
    t.strictSame(body['x_groq'], { id: `req_${id}` });
    t.notOk('x_groq' in (await transcript(PLAIN)).body);
  }
});

t.test('the json form holds text and usage alone', async (t) => {
  const result = await jsonOf<Fields>(await upload([['response_format', 'json']]));
  t.strictSame(Object.keys(result).sort(), ['text', 'usage']);
});

t.test('the text form', async (t) => {
  t.equal(await textOf(await upload([['response_format', 'text']]), /^text\/plain/), `${TEXT}\n`);
});

const verbose = (entries: readonly Entry[] = []) =>
  upload([['response_format', 'verbose_json'], ...entries]).then((response) => jsonOf(response));

t.test('verbose_json: segments are phrases with times in order', async (t) => {
  const { task, text, duration, segments, words, usage } = await verbose();
  exactly(t, { task, text }, { task: 'transcribe', text: TEXT });
  t.strictSame(usage, { type: 'duration', seconds: duration });
  t.equal(words, undefined, 'only where they were asked for');
  t.equal(segments.map((segment) => segment.text).join(' '), TEXT);
  let last = 0;
  segments.forEach(({ id, start, end }, index) => {
    t.equal(id, index);
    t.ok(start >= last && end > start && end <= duration + 0.1);
    last = end;
  });
});

t.test('matrix "STT word timing": verbose_json with the times of each word', async (t) => {
  for (const response of [
    await upload([
      ['response_format', 'verbose_json'],
      ['timestamp_granularities[]', 'word'],
    ]),
    await sendJson({ response_format: 'verbose_json', timestamp_granularities: ['word'] }),
  ]) {
    const { words = [], duration, segments } = await jsonOf(response);
    t.strictSame(
      words.map(({ word }) => word),
      TEXT.split(' '),
    );
    let last = 0;
    for (const { start, end } of words) {
      t.ok(start >= last && end > start && end <= duration + 0.1);
      last = end;
    }
    t.strictSame(
      segments.map(({ text }) => text),
      TEXT.split(/(?<=exactly\.) /),
      'a phrase a sentence',
    );
  }
});

t.test('rule 12: engine internals are neutral constants, language echoes the request', async (t) => {
  const { segments, language } = await verbose();
  for (const segment of segments) {
    const { avg_logprob, no_speech_prob, compression_ratio, temperature, seek, tokens } = segment;
    t.strictSame(
      { avg_logprob, no_speech_prob, compression_ratio, temperature, seek, tokens },
      { avg_logprob: 0, no_speech_prob: 0, compression_ratio: 1, temperature: 0, seek: 0, tokens: [] },
    );
  }
  t.equal(language, '', 'empty where none was sent');
  for (const code of ['de', 'en-US', 'ja']) t.equal((await verbose([['language', code]])).language, code);
  t.equal((await verbose([['language', '']])).language, '');
});

t.test('matrix "Subtitles srt/vtt"', async (t) => {
  const srt = await textOf(await upload([['response_format', 'srt']]), /^application\/x-subrip/);
  t.match(srt, /^1\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\n[^\n]+\n\n(2\n|$)/);
  t.match(srt, '<here> & now.');
  const vtt = await textOf(await sendJson({ response_format: 'vtt' }), /^text\/vtt/);
  t.match(vtt, /^WEBVTT\n\n00:00:00\.\d{3} --> 00:00:\d\d\.\d{3}\n[^\n]+\n\n/);
  t.match(vtt, '&lt;here&gt; &amp; now.');
});

t.test('subtitles have a cue a phrase, the same as verbose_json has segments', async (t) => {
  const { segments } = await verbose();
  const srt = await textOf(await upload([['response_format', 'srt']]), /./);
  t.equal(srt.match(/ --> /g)?.length, segments.length);
  t.ok(segments.length >= 2, 'two sentences, two phrases');
});

t.test('stream=true: deltas that add up, then done', async (t) => {
  for (const response of [
    await upload([['stream', 'true']]),
    await sendJson({ stream: true }),
    await upload([
      ['stream', 'True'],
      ['response_format', 'text'],
    ]),
  ]) {
    const body = await textOf(response, /^text\/event-stream/);
    const frames = body.trim().split('\n\n');
    t.equal(frames.pop(), 'data: [DONE]', 'the end');
    const events = frames.map(
      (event) => JSON.parse(event.replace(/^data: /, '')) as { type: string; delta?: string; text?: string },
    );
    const last = events.pop();
    exactly(t, last, { type: 'transcript.text.done', text: TEXT });
    const { usage } = last as unknown as { usage: Record<string, number> };
    exactly(t, usage, { type: 'tokens' }, 'the one unit that the clients know there');
    const { input_tokens: input = 0, output_tokens: output = 0 } = usage;
    t.ok(input > 0 && output > 0 && [input, output].every(Number.isInteger));
    t.equal(usage['total_tokens'], input + output);
    t.ok(events.every(({ type }) => type === 'transcript.text.delta'));
    t.equal(events.map(({ delta }) => delta).join(''), TEXT);
  }
  for (const format of ['verbose_json', 'srt', 'vtt']) {
    t.equal(
      (
        await refusal(
          await upload([
            ['stream', 'true'],
            ['response_format', format],
          ]),
        )
      ).param,
      'stream',
    );
  }
});

t.test('rule 3: a stream that is false by any name is none', async (t) => {
  for (const word of ['false', 'False', '0', 'none', 'off', '']) {
    t.equal((await jsonOf(await upload([['stream', word]]))).text, TEXT);
  }
  for (const stream of [false, null, 0, 'False'])
    t.equal((await jsonOf(await sendJson({ stream }))).text, TEXT);
});

t.test('silence is no words in every form', async (t) => {
  const header = Buffer.from(await (await spoken('a', 'wav')).arrayBuffer()).subarray(0, 44);
  const silence = new Blob([Buffer.concat([header, Buffer.alloc(44_100 * 2)])]);
  const quiet = (format: string) =>
    send(
      form([
        ['model', MODEL],
        ['file', silence],
        ['response_format', format],
      ]),
    );
  t.equal((await jsonOf(await quiet('json'))).text, '');
  const { text, segments, duration } = await jsonOf(await quiet('verbose_json'));
  t.strictSame([text, segments, duration], ['', [], 1]);
  t.equal(await textOf(await quiet('srt'), /subrip/), '');
  t.equal(await textOf(await quiet('vtt'), /vtt/), 'WEBVTT\n\n');
});
