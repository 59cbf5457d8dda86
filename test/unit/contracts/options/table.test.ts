/** The table of options: it knows every option that a client's SDK can send, and its rows are whole. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { NATIVE_OPTIONS, NATIVE_SPEECH } from '../../../../contracts/options/native.js';
import type { OptionRow, OptionRows } from '../../../../contracts/options/row.js';
import { OPTIONS, rowOf, type Surface } from '../../../../contracts/options/table.js';
import { withOptionTables } from '../../../../gateway/commands/options-page.js';
import { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import { valueAt } from '../../../../contracts/options/reading.js';
import { SDK_GROUPS, sdkOptions } from '../../../fixtures/speech/sdk-options.js';

const surfaces = Object.entries(OPTIONS) as readonly [Surface, OptionRows][];

t.test('every option of the SDKs has a row, and may stand where the SDK puts it', async (t) => {
  const unknown = sdkOptions().filter(
    ({ surface, place, name }) => !rowOf(surface, name)?.in.includes(place),
  );
  t.strictSame(
    unknown.map(({ surface, place, name }) => `${surface}, ${place}: ${name}`),
    [],
  );
});

t.test('the list of SDKs is whole: each has a version, and each type names', async (t) => {
  const sdks = new Set(SDK_GROUPS.map(({ sdk }) => sdk));
  t.strictSame([...sdks].sort(), [
    '@elevenlabs/elevenlabs-js',
    '@openrouter/sdk',
    'elevenlabs for Python',
    'fish-audio',
    'groq-sdk',
    'openai',
    'openai-7',
  ]);
  for (const { sdk, type, version, names } of SDK_GROUPS) {
    t.match(version, /^\d+\.\d+\.\d+$/, `${sdk} ${type}`);
    t.ok(names.length > 0, `${sdk} ${type}`);
  }
});

/** A path in the native options. */
function isNative(path: string): boolean {
  const [first = '', second] = path.split('.');
  const property = (NativeOptions.properties as Record<string, unknown>)[first];
  return second === undefined ? property !== undefined : valueAt(property as object as never, `properties.${second}`) !== undefined; // oxfmt-ignore
}

t.test('each row says where it stands and why it is as it is', async (t) => {
  for (const [surface, rows] of surfaces) {
    for (const [name, row] of Object.entries(rows)) {
      const named = `${surface} ${name}`;
      t.ok(row.in.length > 0, named);
      if (row.effect === 'ignored') t.match(row.note, /^[a-zA-Z]/, named);
      if (row.effect === 'refused') t.match(row.refusal.why, /^[A-Z]/, named);
      if (row.effect === 'mapped') t.ok(isNative(row.to), named);
    }
  }
});

t.test('protocols A and B reach each native option, but the bitrate of Opus', async (t) => {
  t.strictSame(Object.keys(NATIVE_OPTIONS), Object.keys(NativeOptions.properties));
  const ignored = Object.entries(NATIVE_OPTIONS).filter(([, row]) => row.effect !== 'used');
  t.strictSame(
    ignored.map(([name]) => name),
    ['opus_bitrate'],
  );
  for (const name of Object.keys(NATIVE_OPTIONS)) t.ok(Object.hasOwn(NATIVE_SPEECH, name), name);
});

t.test('the row of an object is that of its members; what is unknown has none', async (t) => {
  t.equal(rowOf('B speech', 'voice_settings')?.effect, 'mapped');
  t.equal(rowOf('B speech', 'voice_settings.style')?.effect, 'ignored');
  t.equal(rowOf('A realtime session', 'audio')?.effect, 'used');
  for (const name of ['voice', 'voice_setting', '', 'toString', 'seed.x']) t.equal(rowOf('B speech', name), undefined, name); // oxfmt-ignore
});

/** Names of the rows of a surface with an effect. */
const names = (surface: Surface, effect: OptionRow['effect']): readonly string[] =>
  Object.entries(OPTIONS[surface] as OptionRows).flatMap(([name, row]) =>
    row.effect === effect ? [name] : [],
  );

t.test('what is refused is what the contract refuses', async (t) => {
  t.strictSame(names('A speech', 'refused'), ['instructions', 'stream_format']);
  t.strictSame(names('A transcription', 'refused'), ['include', 'known_speaker_names', 'known_speaker_references', 'url']); // oxfmt-ignore
  t.strictSame(names('A chat', 'refused'), ['n']);
  t.strictSame(names('A realtime session', 'refused'), ['audio.input.turn_detection']);
  t.strictSame(names('B speech', 'refused'), ['audio_effects', 'pronunciation_dictionary_locators']);
  t.strictSame(names('B speech socket', 'refused'), ['pronunciation_dictionary_locators']);
  const both = [
    'diarize',
    'entity_redaction',
    'entity_detection',
    'entity_redaction_mode',
    'use_multi_channel',
    'additional_formats',
    'tag_audio_events',
    'no_verbatim',
    'webhook',
    'webhook_id',
    'transcript_edit',
    'detect_speaker_roles',
    'use_speaker_library',
    'filter_background_audio',
    'secondary_languages',
    'source_url',
    'cloud_storage_url',
    'enable_logging',
  ];
  t.strictSame(names('B transcription', 'refused'), both);
  t.strictSame(names('B transcription socket', 'refused'), [
    'commit_strategy',
    'timestamps_granularity',
    ...both,
  ]);
});

t.test('what a native option stands for', async (t) => {
  const mapped = (surface: Surface) =>
    Object.entries(OPTIONS[surface] as OptionRows).flatMap(([name, row]) =>
      row.effect === 'mapped' ? [[name, row.to, row.aggregatorOnly === true]] : [],
    );
  t.strictSame(mapped('A speech'), [
    ['speed', 'prosody.speed', false],
    ['references', 'references', false],
    ['input_references', 'references', true],
    ['temperature', 'temperature', true],
    ['top_p', 'top_p', true],
    ['repetition_penalty', 'repetition_penalty', true],
  ]);
  for (const surface of ['B speech', 'B speech socket'] as const)
    t.strictSame(mapped(surface), [
      ['apply_text_normalization', 'normalize', false],
      ['voice_settings.stability', 'temperature', false],
      ['voice_settings.speed', 'prosody.speed', false],
    ]);
});

t.test('docs/contract/compatibility.md says what the table says (else: npm run generate)', async (t) => {
  const page = readFileSync(new URL('docs/contract/compatibility.md', CHECKOUT), 'utf8');
  t.equal(withOptionTables(page), page);
  t.throws(() => withOptionTables('a page without marks'), /no place for refused options/);
});

t.test('a session that only transcribes has the options of what comes in', async (t) => {
  const transcribing = Object.entries(OPTIONS['A realtime session'] as OptionRows).filter(
    ([, row]) => row.transcribes,
  );
  t.strictSame(
    transcribing.map(([name]) => name),
    [
      'type',
      'audio.input.format',
      'audio.input.turn_detection',
      'audio.input.transcription',
      'audio.input.noise_reduction',
      'audio.input.transcription.model',
      'audio.input.transcription.language',
      'audio.input.transcription.prompt',
      'audio.input.transcription.delay',
      'audio.input.transcription.languages',
      'audio.input.transcription.keywords',
    ],
  );
});
