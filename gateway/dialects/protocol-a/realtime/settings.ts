/**
 * The settings of a realtime session, and how `session.update` changes them: a partial merge, all or nothing
 * (docs/contract/protocol-a.md 5.2; the refusals of docs/contract/protocol-a.md 5). Which options there are, and where they stand,
 * says the table of options; here is how they are read.
 */
import type {
  NoiseReduction,
  RealtimeSettings as Settings,
  SessionKind,
} from '../../../../actors/realtime-settings.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { A_RESPONSE, A_SESSION } from '../../../../contracts/options/protocol-a.js';
import { shownBelow } from '../../../../contracts/options/reading.js';
import type { OptionRow, OptionRows } from '../../../../contracts/options/row.js';
import { DEFAULT_SYNTHESIS_MODEL, DEFAULT_TRANSCRIPTION_MODEL } from '../../../../contracts/speech/models.js';
import { isUnset } from '../../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import type { ProtocolAParts } from '../parts.js';
import { synthesisModel } from '../speech-params.js';
import { transcriptionModel } from '../uploads.js';
import { Fault, type FaultCode } from './faults.js';
import { DEFAULT_FORMAT, readFormat, showFormat } from './formats.js';

export type { RealtimeSettings as Settings, SessionKind } from '../../../../actors/realtime-settings.js';

export const DEFAULT_VOICE = 'default';

export const defaultSettings = (kind: SessionKind, { vendor }: Vocabulary): Settings => ({
  kind,
  model: { name: `${vendor}/${DEFAULT_SYNTHESIS_MODEL}`, id: DEFAULT_SYNTHESIS_MODEL },
  transcription: { name: `${vendor}/${DEFAULT_TRANSCRIPTION_MODEL}`, id: DEFAULT_TRANSCRIPTION_MODEL },
  input: DEFAULT_FORMAT,
  noiseReduction: null,
  output: DEFAULT_FORMAT,
  voice: DEFAULT_VOICE,
  speed: 1,
  modalities: ['audio'],
});

const NAME_LENGTH = 256;
/** Longest option without effect that is kept to be shown, as JSON. */
const SHOWN_LENGTH = 16 * 1024;
const LANGUAGE_LENGTH = 16;

function readText(value: unknown, most: number, code: FaultCode, param: string): string {
  if (typeof value === 'string' && value.length <= most) return value;
  throw new Fault(code, `${param} must be text of at most ${most} characters`, param);
}

/** Looks up a model; an unknown one is a fault that names the field as spelled here. */
function found<Id>(look: () => Id, param: string): Id {
  try {
    return look();
  } catch (error) {
    if (error instanceof ServiceError) throw new Fault('model_not_found', error.message, param);
    throw error;
  }
}

export function readModel(value: unknown, vocabulary: Vocabulary, param: string): Settings['model'] {
  const name = readText(value, NAME_LENGTH, 'model_not_found', param);
  return { name, id: found(() => synthesisModel(name, vocabulary), param) };
}

/** Options of a transcription without effect here, which a session repeats. */
const SHOWN_OPTIONS = shownBelow(A_SESSION, 'audio.input.transcription');

const isShown = (value: unknown): boolean => !isUnset(value) && JSON.stringify(value).length <= SHOWN_LENGTH;

/** The options without effect after an update: absent ones stay, unset ones are dropped. */
function shownOptions(value: PlainObject, present: PlainObject = {}): PlainObject {
  const options = SHOWN_OPTIONS.map(
    (name) => [name, value[name] === undefined ? present[name] : value[name]] as const,
  );
  return Object.fromEntries(options.filter(([, option]) => option !== undefined && isShown(option)));
}

/** Absent fields stay as in `present`; an unset language means none. Errors: `Fault`. */
export function readTranscription(
  value: unknown,
  vocabulary: Vocabulary,
  param: string,
  present: Settings['transcription'] = null,
): Settings['transcription'] {
  if (value === null) return null;
  if (!isPlainObject(value)) throw new Fault('invalid_event', `${param} must be an object or null`, param);
  const model = value['model'] ?? present?.name ?? `${vocabulary.vendor}/${DEFAULT_TRANSCRIPTION_MODEL}`;
  const name = readText(model, NAME_LENGTH, 'model_not_found', `${param}.model`);
  const id = found(() => transcriptionModel(name, vocabulary), `${param}.model`);
  const language = value['language'] === undefined ? present?.language : value['language'];
  const shown = shownOptions(value, present?.shown);
  if (isUnset(language)) return { name, id, shown };
  return {
    name,
    id,
    shown,
    language: readText(language, LANGUAGE_LENGTH, 'invalid_event', `${param}.language`),
  };
}

function readVoice(value: unknown, param: string): string {
  const id = isPlainObject(value) ? value['id'] : value;
  return readText(id, LIMITS.native.referenceIdLength.max, 'invalid_voice', param) || DEFAULT_VOICE;
}

function readSpeed(value: unknown, param: string): number {
  const { min, max } = LIMITS.speed.protocolA;
  if (typeof value === 'number' && value >= min && value <= max) return value;
  throw new Fault('invalid_speed', `${param} must be in [${min}, ${max}]`, param);
}

const MODALITIES: readonly unknown[] = ['audio', 'text'];

function readModalities(value: unknown, param: string): readonly string[] {
  if (Array.isArray(value) && value.length <= 2 && value.includes('audio')) {
    if (value.every((modality): modality is string => MODALITIES.includes(modality))) return value;
  }
  throw new Fault('unsupported_output_modalities', undefined, param);
}

/** Spec "Refused options": accepts only null and `none`. */
function refuseTurnDetection(value: unknown, param: string): void {
  const type = isPlainObject(value) ? value['type'] : value;
  if (type === undefined || isUnset(type)) return;
  throw new Fault('unsupported_turn_detection', undefined, param);
}

const NOISE_REDUCTIONS: readonly unknown[] = ['near_field', 'far_field'] satisfies NoiseReduction[];

/** Any value but the two types turns it off, as null does: an unknown type is no reason to refuse the session. */
function readNoiseReduction(value: unknown): NoiseReduction | null {
  const type = isPlainObject(value) ? value['type'] : undefined;
  return NOISE_REDUCTIONS.includes(type) ? (type as NoiseReduction) : null;
}

/** The parts that reading settings needs. */
export type SettingsParts = Pick<ProtocolAParts, 'vocabulary' | 'transcription'>;

/** Reads the value of an option; `param` names it as the client does. */
type Reader = (value: unknown, param: string, parts: SettingsParts, present: Settings) => Partial<Settings>;

/** Errors: `Fault` for another kind than the session's. */
function readKind(value: unknown, param: string, { kind }: Settings): object {
  if (value === kind) return {};
  throw new Fault('invalid_event', `The type of this session is ${kind}`, param);
}

/** The options that change a session's settings, by their names in the table of options. */
const READERS: Readonly<Record<string, Reader>> = {
  type: (value, param, _, present) => readKind(value, param, present),
  model: (value, param, { vocabulary }) => ({ model: readModel(value, vocabulary, param) }),
  'audio.input.format': (value, param) => ({ input: readFormat(value, param) }),
  'audio.input.turn_detection': (value, param) => {
    refuseTurnDetection(value, param);
    return {};
  },
  'audio.input.transcription': (value, param, { vocabulary }, { transcription }) => ({
    transcription: readTranscription(value, vocabulary, param, transcription),
  }),
  'audio.input.noise_reduction': (value, _, { transcription }) => ({
    noiseReduction: transcription.reducesNoise ? readNoiseReduction(value) : null,
  }),
  output_modalities: (value, param) => ({ modalities: readModalities(value, param) }),
  'audio.output.format': (value, param) => ({ output: readFormat(value, param) }),
  'audio.output.voice': (value, param) => ({ voice: readVoice(value, param) }),
  'audio.output.speed': (value, param) => ({ speed: readSpeed(value, param) }),
};

interface Row extends Pick<OptionRow, 'older' | 'nullable' | 'transcribes'> {
  readonly path: readonly string[];
  readonly read: Reader;
}

const rowsFor = (options: OptionRows): readonly Row[] =>
  Object.entries(options).flatMap(([name, option]) => {
    const read = READERS[name];
    return read ? [{ ...option, path: name.split('.'), read }] : [];
  });

const SESSION = rowsFor(A_SESSION);
const RESPONSE = rowsFor(A_RESPONSE);

/** The value at the path; undefined if an object on the way is absent or null. Errors: `Fault` if it is not an object. */
function valueAt(fields: PlainObject, path: readonly string[], root: string): unknown {
  let value: unknown = fields;
  for (const [depth, name] of path.entries()) {
    if (value === undefined || value === null) return undefined;
    const at = [root, ...path.slice(0, depth)].join('.');
    if (!isPlainObject(value)) throw new Fault('invalid_event', `${at} must be an object`, at);
    value = value[name];
  }
  return value;
}

/** The place and the value of a row's field: today's place, else the older one. */
function fieldOf(fields: PlainObject, { path, older }: Row, root: string): { value: unknown; param: string } {
  const value = valueAt(fields, path, root);
  const former = value === undefined && older !== undefined ? fields[older] : undefined;
  return former === undefined
    ? { value, param: [root, ...path].join('.') }
    : { value: former, param: `${root}.${older}` };
}

function merged(
  settings: Settings,
  fields: PlainObject,
  {
    rows,
    root,
    parts,
  }: { readonly rows: readonly Row[]; readonly root: string; readonly parts: SettingsParts },
): Settings {
  return rows.reduce((changed, row) => {
    if (!row.transcribes && settings.kind !== 'realtime') return changed;
    const { value, param } = fieldOf(fields, row, root);
    if (value === undefined || (value === null && !row.nullable)) return changed;
    return { ...changed, ...row.read(value, param, parts, changed) };
  }, settings);
}

/** The settings after a `session.update`. Errors: `Fault`; nothing has changed then. */
export function updated(settings: Settings, session: unknown, parts: SettingsParts): Settings {
  if (!isPlainObject(session)) throw new Fault('invalid_event', 'session must be an object', 'session');
  return merged(settings, session, { rows: SESSION, root: 'session', parts });
}

/** The settings of one response. Errors: `Fault`. */
export const forResponse = (settings: Settings, response: PlainObject, parts: SettingsParts): Settings =>
  merged(settings, response, { rows: RESPONSE, root: 'response', parts });

const showInput = ({ input, transcription, noiseReduction }: Settings): object => ({
  format: showFormat(input),
  ...(transcription === null
    ? {}
    : {
        transcription: {
          model: transcription.name,
          ...(transcription.language === undefined ? {} : { language: transcription.language }),
          ...transcription.shown,
        },
      }),
  // Left out if it is off: openai's SDK types allow no null here.
  ...(noiseReduction && { noise_reduction: { type: noiseReduction } }),
  turn_detection: null,
});

/** Fields that clients expect of a session, although they have no effect here. */
const CONSTANTS = {
  instructions: '',
  tools: [],
  tool_choice: 'auto',
  max_output_tokens: 'inf',
  tracing: null,
  truncation: 'auto',
  prompt: null,
} as const;

export const showOutput = ({ output, voice }: Settings): object => ({ format: showFormat(output), voice });

/** The whole session as its client sees it; `expiresAt` in seconds since the epoch. */
export function showSession(settings: Settings, id: string, expiresAt: number): object {
  const known = { id, expires_at: expiresAt };
  if (settings.kind === 'transcription') {
    const object = 'realtime.transcription_session';
    return { type: 'transcription', object, ...known, audio: { input: showInput(settings) } };
  }
  return {
    type: 'realtime',
    object: 'realtime.session',
    ...known,
    model: settings.model.name,
    output_modalities: settings.modalities,
    ...CONSTANTS,
    audio: { input: showInput(settings), output: { ...showOutput(settings), speed: settings.speed } },
  };
}

/** Stands for a session's id and expiry in the text of others; both come before anything that a client may choose. */
const PLACE = '"?","expires_at":0';
const texts = new WeakMap<Settings, readonly [before: string, after: string]>();

function textOf(settings: Settings): readonly [before: string, after: string] {
  const text = JSON.stringify(showSession(settings, '?', 0));
  const at = text.indexOf(PLACE);
  return [text.slice(0, at), text.slice(at + PLACE.length)];
}

/** As `showSession`, as JSON text: all but id and expiry is written once for each settings object. `id` needs no escapes. */
export function shownText(settings: Settings, id: string, expiresAt: number): string {
  const known = texts.get(settings) ?? textOf(settings);
  texts.set(settings, known);
  return `${known[0]}"${id}","expires_at":${expiresAt}${known[1]}`;
}
