/** JSON with long strings, which are read apart from the document: they equal JSON.parse's. */
import t from '../../../../fixtures/tap.js';
import { readAudioJson } from '../../../../../gateway/server/bodies/audio-json.js';
import { readText } from '../../../../../gateway/server/bodies/long-text.js';
import type { LongString } from '../../../../../gateway/server/bodies/long-strings.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';
import { contentOf, requestWith, spooling } from '../../../../fixtures/edge/spool.js';
import { shortOrLong } from '../../../../fixtures/long.js';
import { pick, seeded } from '../../../../fixtures/random.js';

/** The JSON of a string without its quotes. */
const quoted = (json: string): Buffer => Buffer.from(json.slice(1, -1));

const long = (content: Buffer): LongString => ({ content, size: content.length, escaped: true });

/** Each half of a character beyond the first 65,536 is an escape of its own. */
const asciiOnly = (json: string): string =>
  json.replace(/[^\0-\x7f]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Long enough to be read in several pieces. */
const LENGTH = 700_000;

t.test('every mixture of escapes and characters, wherever the pieces end', async (t) => {
  const random = seeded(11);
  const TOKENS: [string, ...string[]] = [
    'a',
    'b c',
    '\n',
    '"',
    '\\',
    '\\\\u0041',
    'ä',
    '日本',
    '😀',
    '\u0001',
    '\ufeff',
  ];
  for (let round = 0; round < shortOrLong(2, 4); round++) {
    const parts: string[] = ['x'.repeat(round)];
    for (let length = 0; length < LENGTH; length += parts.at(-1)!.length) parts.push(pick(random, TOKENS));
    const text = parts.join('');
    const json = JSON.stringify(text);
    t.ok((await readText(long(quoted(json)))) === text, 'as it is written');
    t.ok((await readText(long(quoted(asciiOnly(json))))) === text, 'in ASCII alone');
  }
});

t.test('runs of one kind, at every offset', async (t) => {
  for (const unit of ['\\', '"', '😀', 'é', '\u0002']) {
    for (const offset of [0, 1, 2, 3, 5]) {
      const text = 'x'.repeat(offset) + unit.repeat(LENGTH / 2 / quoted(JSON.stringify(unit)).length);
      for (const json of [JSON.stringify(text), asciiOnly(JSON.stringify(text))])
        t.ok((await readText(long(quoted(json)))) === text, `${JSON.stringify(unit)} behind ${offset}`);
    }
  }
});

t.test('text that JSON refuses is malformed', async (t) => {
  const filler = 'x'.repeat(300_000);
  for (const tail of ['\u0001', '\\x', '\\u12g4', '\\'])
    await rejectsExactly(
      t,
      readText(long(Buffer.from(filler + tail))),
      { code: 'malformed_body', status: 400 },
      tail,
    );
  await rejectsExactly(t, readText(long(Buffer.concat([Buffer.from(filler), Buffer.from([0xff])]))), {
    code: 'malformed_body',
  });
});

t.test(
  'a document: text, base64 and the whole of it, long and short, with escapes and without',
  async (t) => {
    const world = spooling(t);
    const audio = Buffer.alloc(3_000_000, 'audio');
    const base64 = audio.toString('base64');
    const fields = { plain: 'a b '.repeat(50_000), lines: 'é"\n'.repeat(50_000), short: 'é\n', base64 };
    const json = JSON.stringify(fields).replaceAll('/', '\\/');
    const document = await readAudioJson(requestWith(world, json, 50_001), 100_000_000);
    const value = document.value as typeof fields;
    for (const name of ['plain', 'lines', 'short'] as const)
      t.ok((await document.text(value[name])) === fields[name]);
    t.ok(audio.equals(await contentOf(await document.decode(value.base64, audio.length))), 'escaped base64');
    await rejectsExactly(t, document.decode(value.base64, audio.length - 1000), { code: 'audio_too_large' });
    const whole = (await document.whole()) as typeof fields;
    for (const [name, text] of Object.entries(fields))
      t.ok(whole[name as keyof typeof fields] === text, name);
  },
);

t.test('a document of too many strings is refused while it arrives', async (t) => {
  const world = spooling(t);
  const strings = `{"input_audio":[${'"a",'.repeat(300_000)}`;
  await rejectsExactly(t, readAudioJson(requestWith(world, strings, 50_001), 100_000_000), {
    code: 'malformed_body',
    message: /too many parts/,
  });
});
