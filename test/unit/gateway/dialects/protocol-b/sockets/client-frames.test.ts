/** Frames that clients of protocol B’s speech sockets send (docs/contract/protocol-b.md 3). */
import t from '../../../../../fixtures/tap.js';
import { defaultVocabulary } from '../../../../../../contracts/vocabulary.js';
import {
  SpeechFrameFault,
  type SpeechClientFrame,
  readFrame as readFrameOf,
} from '../../../../../../gateway/dialects/protocol-b/sockets/client-frames.js';
import { exactly, throwsExactly } from '../../../../../fixtures/exactly.js';
import { pick, seeded } from '../../../../../fixtures/random.js';

/** Frames that are not long are read at once. */
const readFrame = (data: string | Uint8Array) => readFrameOf(data, defaultVocabulary) as SpeechClientFrame;

t.test('what clients send: null is absent, unknown fields are ignored, booleans follow rule 3', async (t) => {
  const frame = (fields: object) => readFrame(JSON.stringify(fields));
  const first = frame({
    text: ' ',
    try_trigger_generation: true,
    voice_settings: null,
    generation_config: { chunk_length_schedule: [50] },
    pronunciation_dictionary_locators: [],
    whatever: { a: [1] },
  });
  exactly(t, first, { text: ' ', voiceSettings: undefined, key: undefined });
  t.strictSame(first.schedule, [50]);
  t.strictSame([...first.flags], ['try_trigger_generation']);
  exactly(t, frame({ text: '', voice_settings: {}, generation_config: null }), { voiceSettings: undefined });
  for (const value of [false, 'False', 0, 'none', 'off', null, ''])
    t.equal(frame({ text: 'a', flush: value }).flags.size, 0, `flush: ${JSON.stringify(value)}`);
  for (const value of [true, 'true', 1]) t.ok(frame({ flush: value }).flags.has('flush'));
  exactly(t, frame({ text: 'a', contextId: 'x' }), { contextId: 'x' }, 'the schema knows both spellings');
  for (const [name, key] of [
    ['xi_api_key', 'k'],
    ['xi-api-key', 'k'],
    ['authorization', 'Bearer k'],
    ['authorization', 'k'],
  ] as const)
    t.equal(frame({ text: ' ', [name]: key }).key, 'k');
});

const REFUSED: [name: string, data: string | Uint8Array, code: number][] = [
  ['binary', new Uint8Array(3), 1008],
  ['not JSON', '{"text":', 1008],
  ['empty', '', 1008],
  ['no object', '[1]', 1008],
  ['a string', '"text"', 1008],
  ['nothing in it', '{}', 1008],
  ['nothing known in it', '{"foo":1}', 1008],
  ['null text alone', '{"text":null}', 1008],
  ['text of another type', '{"text":5}', 1008],
  ['flush of another type', '{"text":"a","flush":"maybe"}', 1008],
  ['a schedule below 50', '{"text":" ","generation_config":{"chunk_length_schedule":[49]}}', 1008],
  ['a schedule above 500', '{"text":" ","generation_config":{"chunk_length_schedule":[501]}}', 1008],
  [
    'a schedule without end',
    JSON.stringify({ text: ' ', generation_config: { chunk_length_schedule: Array(65).fill(50) } }),
    1008,
  ],
  ['a context id without end', JSON.stringify({ text: ' ', context_id: 'c'.repeat(257) }), 1008],
  ['a key of another type', '{"text":" ","xi_api_key":5}', 1008],
  ['a key without end', JSON.stringify({ text: ' ', authorization: 'k'.repeat(2000) }), 1008],
  ['nested without end', `{"text":"a","x":${'['.repeat(200)}${']'.repeat(200)}}`, 1008],
  ['parts without end', `{"text":"a","x":[${'1,'.repeat(200_000)}1]}`, 1008],
  ['a frame that no text can fill', JSON.stringify({ text: 'a'.repeat(7 * 1024 * 1024) }), 1009],
];

t.test('frames that cannot be taken are refused, each with its close code', async (t) => {
  for (const [name, data, code] of REFUSED) {
    try {
      readFrame(data);
      t.fail(name);
    } catch (error) {
      t.ok(error instanceof SpeechFrameFault, name);
      exactly(t, (error as SpeechFrameFault).fault, { message: String, error: String, code }, name);
    }
  }
  throwsExactly(t, () => readFrame('[]'), { message: /: the message must be of type object$/ });
});

t.test('any frame is read or refused, never a crash', async (t) => {
  const random = seeded(11);
  const names = [
    'text',
    'flush',
    'context_id',
    'voice_settings',
    'generation_config',
    'constructor',
  ] as const;
  const values = [null, true, 'a ', '', 5, -1, {}, [], { chunk_length_schedule: 'x' }, '__proto__'] as const;
  let read = 0;
  for (let run = 0; run < 5000; run++) {
    const fields = Array.from({ length: 4 }, () => [pick(random, names), pick(random, [...values])]);
    const whole = JSON.stringify(Object.fromEntries(fields));
    const data = random() < 0.2 ? whole.slice(0, Math.floor(random() * whole.length)) : whole;
    try {
      readFrame(data);
      read++;
    } catch (error) {
      if (!(error instanceof SpeechFrameFault)) throw error;
    }
  }
  t.ok(read > 100 && read < 4000, `${read} of 5000 were read`);
});
