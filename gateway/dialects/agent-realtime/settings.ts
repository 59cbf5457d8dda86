/**
 * The settings of an agent's socket, and what `session.update` changes of them (docs/contract/agent-realtime.md): what belongs to the
 * agent's owner keeps its value unless the agent allows otherwise, and the session shows the value in force.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { LANGUAGES, type Language } from '../../../contracts/speech/languages.js';
import type { PlannedTool } from '../../../contracts/ports/sessions/sessions.js';
import type { SocketSession, WantedSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import { readSocketFormat, showSocketFormat, type SocketFormat } from './formats.js';
import { readTools, showTool } from './tools.js';

type Eagerness = AgentConfig['conversation']['eagerness'];

/**
 * Who ends the user's turns: the agent, by how they sound, or the client (null). `eagerness`: absent, the agent's own. `interrupts`: the
 * agent is not to be interrupted; absent, its own.
 */
export type TurnDetection = {
  readonly type: 'server_vad' | 'semantic_vad';
  readonly eagerness?: Eagerness;
  readonly interrupts?: false;
} | null;

export interface AgentSettings {
  readonly input: SocketFormat;
  readonly output: SocketFormat;
  readonly turns: TurnDetection;
  /** The client's own tools. */
  readonly tools: readonly PlannedTool[];
  /** What the client has wished otherwise, as far as it is in force. */
  readonly overrides: WantedSession;
}

export const DEFAULT_SETTINGS: AgentSettings = {
  input: 'audio/pcm',
  output: 'audio/pcm',
  turns: { type: 'semantic_vad' },
  tools: [],
  overrides: {},
};

const EAGERNESS: Readonly<Record<string, Eagerness | undefined>> = {
  low: 'relaxed',
  medium: 'balanced',
  high: 'eager',
  auto: undefined,
};

/** A vendor's detector by silence: how long that is, in milliseconds, shows how eager the agent is to be. Its default says nothing. */
const SILENCE = { default: 500, eager: 300, balanced: 800 } as const;

function eagernessBySilence(ms: number): Eagerness | undefined {
  if (ms === SILENCE.default) return undefined;
  if (ms <= SILENCE.eager) return 'eager';
  return ms <= SILENCE.balanced ? 'balanced' : 'relaxed';
}

/**
 * Names of a vendor's voices, and those of its default: clients send them without having chosen one. They count as unset, also the
 * one under which the library has a voice.
 */
const VENDOR_VOICES: ReadonlySet<string> = new Set([
  ...['', 'default', 'alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable', 'marin', 'nova', 'onyx'],
  ...['sage', 'shimmer', 'verse'],
]);

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

function readTurns(value: unknown, param: string): TurnDetection {
  if (value === null || value === 'none') return null;
  if (!isPlainObject(value)) throw invalid(`${param} must be an object or null`, param);
  const { type } = value;
  if (type === 'none') return null;
  if (type !== 'server_vad' && type !== 'semantic_vad')
    throw new Fault('unsupported_turn_detection', `${param}.type must be server_vad or semantic_vad`, param);
  if (value['create_response'] === false)
    throw new ServiceError('unsupported_option', { message: ANSWERS, param: `${param}.create_response` });
  const eagerness = EAGERNESS_OF[type](value, param);
  const isDeaf = value['interrupt_response'] === false;
  return { type, ...(eagerness && { eagerness }), ...(isDeaf && { interrupts: false }) };
}

const ANSWERS = 'An agent answers each turn that it hears: without turn detection the client decides when';

/** How eager the client wants the agent to be; undefined: as it is. Errors: `Fault`. */
const EAGERNESS_OF: {
  readonly [Type in 'server_vad' | 'semantic_vad']: (
    fields: PlainObject,
    param: string,
  ) => Eagerness | undefined;
} = {
  semantic_vad({ eagerness }, param) {
    if (!isGiven(eagerness)) return undefined;
    if (typeof eagerness === 'string' && Object.hasOwn(EAGERNESS, eagerness)) return EAGERNESS[eagerness];
    const names = Object.keys(EAGERNESS).join(', ');
    throw invalid(`${param}.eagerness must be one of ${names}`, `${param}.eagerness`);
  },
  server_vad({ silence_duration_ms: ms }, param) {
    if (!isGiven(ms)) return undefined;
    if (typeof ms === 'number' && ms >= 0) return eagernessBySilence(ms);
    throw invalid(
      `${param}.silence_duration_ms must be a number of milliseconds`,
      `${param}.silence_duration_ms`,
    );
  },
};

/** The value at that place; undefined if it, or an object on the way, is absent. Errors: `Fault`. */
function at(fields: PlainObject, path: readonly string[]): unknown {
  let value: unknown = fields;
  for (const [depth, name] of path.entries()) {
    if (value === undefined || value === null) return undefined;
    const where = ['session', ...path.slice(0, depth)].join('.');
    if (!isPlainObject(value)) throw invalid(`${where} must be an object`, where);
    value = value[name];
  }
  return value;
}

/** The value, and where it stands: today's place, else the one from before the session had parts. */
function placed(fields: PlainObject, path: string, older: string) {
  const value = at(fields, path.split('.'));
  return value === undefined
    ? { value: fields[older], param: `session.${older}` }
    : { value, param: `session.${path}` };
}

function voiceIn(fields: PlainObject): string | undefined {
  const { value, param } = placed(fields, 'audio.output.voice', 'voice');
  const voice = isPlainObject(value) ? value['id'] : value;
  if (voice === undefined || voice === null) return undefined;
  if (typeof voice !== 'string' || voice.length > LIMITS.native.referenceIdLength.max)
    throw new Fault('invalid_voice', `${param} must be the id of a voice`, param);
  return VENDOR_VOICES.has(voice) ? undefined : voice;
}

function instructionsIn({ instructions }: PlainObject): string | undefined {
  if (instructions === undefined || instructions === null || instructions === '') return undefined;
  const most = LIMITS.agent.systemPromptLength;
  if (typeof instructions === 'string' && instructions.length <= most) return instructions;
  throw invalid(`session.instructions must be text of at most ${most} characters`, 'session.instructions');
}

/** Languages come as `de`, or with a region; one that no agent speaks is none. */
function languageIn(fields: PlainObject): Language | undefined {
  const { value } = placed(fields, 'audio.input.transcription', 'input_audio_transcription');
  const language = isPlainObject(value) ? value['language'] : undefined;
  if (typeof language !== 'string') return undefined;
  return LANGUAGES.find((known) => known === language.slice(0, 2).toLowerCase());
}

/** The session's fields. Errors: `Fault`. */
export function sessionFields(value: unknown): PlainObject {
  if (!isPlainObject(value)) throw invalid('session must be an object', 'session');
  const { type } = value;
  if (type === undefined || type === null || type === 'realtime') return value;
  throw invalid('The type of an agent’s session is realtime', 'session.type');
}

/** What the client wishes of the agent. Errors: `Fault`. */
export function wantedOf(fields: PlainObject): WantedSession {
  const [instructions, voice, language] = [instructionsIn(fields), voiceIn(fields), languageIn(fields)];
  return {
    ...(instructions !== undefined && { system_prompt: instructions }),
    ...(voice !== undefined && { voice_id: voice }),
    ...(language !== undefined && { language }),
  };
}

/** The settings that belong to the client; absent ones stay. Errors: `Fault`, `unsupported_option`. */
export function changed(present: AgentSettings, fields: PlainObject): AgentSettings {
  const input = placed(fields, 'audio.input.format', 'input_audio_format');
  const output = placed(fields, 'audio.output.format', 'output_audio_format');
  const turns = placed(fields, 'audio.input.turn_detection', 'turn_detection');
  const { tools } = fields;
  return {
    ...present,
    ...(isGiven(input.value) && { input: readSocketFormat(input.value, input.param) }),
    ...(isGiven(output.value) && { output: readSocketFormat(output.value, output.param) }),
    ...(turns.value !== undefined && { turns: readTurns(turns.value, turns.param) }),
    ...(isGiven(tools) && { tools: readTools(tools, 'session.tools') }),
  };
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** What an agent decides itself of a session and of a response, and what it does: nothing else can be asked for. */
const USUAL = {
  session: { tool_choice: 'auto', max_output_tokens: 'inf', truncation: 'auto', prompt: null },
  turns: { threshold: 0.5, prefix_padding_ms: 300, idle_timeout_ms: null },
  transcription: { prompt: null, keywords: null },
  input: { noise_reduction: null },
  output: { speed: 1 },
  response: { tools: null, tool_choice: 'auto', max_output_tokens: 'inf', audio: null },
} as const;

const isEmpty = (value: unknown): boolean =>
  !isGiven(value) || value === '' || (Array.isArray(value) && value.length === 0);

/** Names of what is asked for otherwise. */
const otherThan = (usual: object, asked: unknown, place = ''): readonly string[] =>
  Object.entries(usual).flatMap(([name, does]) => {
    const value = isPlainObject(asked) ? asked[name] : undefined;
    return isEmpty(value) || value === does ? [] : [`${place}${name}`];
  });

const withoutAudio = ({ output_modalities: modalities }: PlainObject): readonly string[] =>
  Array.isArray(modalities) && !modalities.includes('audio') ? ['output_modalities'] : [];

/** Options of a vendor's model that an agent decides itself, if they ask for something else than it does. Errors: `Fault`. */
export const ownersOptions = (fields: PlainObject): readonly string[] => [
  ...otherThan(
    USUAL.turns,
    placed(fields, 'audio.input.turn_detection', 'turn_detection').value,
    'audio.input.turn_detection.',
  ),
  ...otherThan(
    USUAL.transcription,
    placed(fields, 'audio.input.transcription', 'input_audio_transcription').value,
    'audio.input.transcription.',
  ),
  ...otherThan(USUAL.input, at(fields, ['audio', 'input']), 'audio.input.'),
  ...otherThan(USUAL.output, at(fields, ['audio', 'output']), 'audio.output.'),
  ...withoutAudio(fields),
  ...otherThan(USUAL.session, fields),
];

/** The same of one response. */
export const ownersOfResponse = (response: PlainObject): readonly string[] =>
  [...otherThan(USUAL.response, response), ...withoutAudio(response)].map((name) => `response.${name}`);

const SHOWN_EAGERNESS: Readonly<Record<Eagerness, string>> = {
  relaxed: 'low',
  balanced: 'medium',
  eager: 'high',
};

function showTurns(turns: TurnDetection, { conversation }: AgentConfig): object | null {
  if (turns === null) return null;
  const { type, eagerness = conversation.eagerness, interrupts = conversation.interruptible } = turns;
  return {
    type,
    ...(type === 'semantic_vad' && { eagerness: SHOWN_EAGERNESS[eagerness] }),
    create_response: true,
    interrupt_response: interrupts && conversation.interruptible,
  };
}

/** Fields that clients expect of a session, although an agent decides them itself. */
const CONSTANTS = {
  tool_choice: 'auto',
  max_output_tokens: 'inf',
  tracing: null,
  truncation: 'auto',
  prompt: null,
} as const;

/** How the agent of those settings takes turns. */
export const turnsOf = (
  { turns }: Pick<AgentSettings, 'turns'>,
  { eagerness, interruptible }: AgentConfig['conversation'],
): Pick<AgentConfig['conversation'], 'eagerness' | 'interruptible'> => ({
  eagerness: turns?.eagerness ?? eagerness,
  interruptible: interruptible && turns?.interrupts !== false,
});

/** The voice in force. */
export const voiceOf = ({ overrides }: AgentSettings, { config }: Pick<SocketSession, 'config'>): string =>
  overrides.voice_id ?? (config.voice.voice_id || 'default');

/**
 * The whole session as its client sees it; `expiresAt` in seconds since the epoch, `transcribes`: the model that hears the user. The
 * agent's own instructions are its owner's: only the client's are shown.
 */
export function showAgentSession(
  settings: AgentSettings,
  session: Pick<SocketSession, 'id' | 'agentId' | 'config' | 'tools'>,
  expiresAt: number,
  transcribes: string,
): object {
  const { input, output, turns, tools, overrides } = settings;
  const { config } = session;
  const language = overrides.language ?? config.voice.speaking_language;
  return {
    type: 'realtime',
    object: 'realtime.session',
    id: session.id,
    expires_at: expiresAt,
    model: session.agentId,
    output_modalities: ['audio'],
    instructions: overrides.system_prompt ?? '',
    tools: [...session.tools, ...tools].map(showTool),
    ...CONSTANTS,
    audio: {
      input: {
        format: showSocketFormat(input),
        transcription: { model: transcribes, language },
        turn_detection: showTurns(turns, config),
      },
      output: { format: showSocketFormat(output), voice: voiceOf(settings, session), speed: 1 },
    },
  };
}
