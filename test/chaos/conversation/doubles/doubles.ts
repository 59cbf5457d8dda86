/** All that surrounds a conversation and is not ours, as doubles with faults, and the settings of a gateway that uses them. */
import { type McpDouble, startMcpDouble } from './mcp.js';
import { type ModelDouble, startModelDouble } from './model.js';
import { type SpeechDouble, startSpeechDouble } from './speech.js';
import { startToolDouble, type ToolDouble } from './tools.js';

export interface Doubles {
  readonly model: ModelDouble;
  /** The second model, for gateways that have one. */
  readonly fallback: ModelDouble;
  /** The first voice and recogniser, of all languages. */
  readonly speech: SpeechDouble;
  /** The other ones, of English only: where somebody speaks another language, the first are alone. */
  readonly otherSpeech: SpeechDouble;
  readonly tools: ToolDouble;
  readonly mcp: McpDouble;
}

export async function startDoubles(t: { teardown(end: () => unknown): void }): Promise<Doubles> {
  const [model, fallback, speech, otherSpeech, tools, mcp] = await Promise.all([
    startModelDouble(t),
    startModelDouble(t),
    startSpeechDouble(t),
    startSpeechDouble(t),
    startToolDouble(t),
    startMcpDouble(t),
  ]);
  return { model, fallback, speech, otherSpeech, tools, mcp };
}

/** The voice of calls that are not named. */
export const PLAIN_VOICE = 'plain';
const RATE = '16000';
const ENGINES = 'openai-compatible,native-compatible';

/** `calls`: names of the calls that have a voice of their own; `second`: whether the gateway has the second model. */
export const settingsWith = (
  { model, fallback, speech, otherSpeech }: Doubles,
  { calls = [], second = false }: { readonly calls?: readonly string[]; readonly second?: boolean } = {},
): Record<string, string> => ({
  LLM_BASE_URL: model.url,
  ...(second && { LLM_FALLBACK_BASE_URL: fallback.url }),
  TTS_ENGINES: ENGINES,
  STT_ENGINES: ENGINES,
  REMOTE_OPENAI_URL: `${speech.url}/v1`,
  REMOTE_OPENAI_VOICES: [PLAIN_VOICE, ...calls].join(','),
  REMOTE_OPENAI_RATE: RATE,
  REMOTE_NATIVE_URL: otherSpeech.url,
  REMOTE_NATIVE_VOICES: 'other',
  REMOTE_NATIVE_RATE: RATE,
  REMOTE_NATIVE_LANGUAGES: 'en',
  OUTBOUND_ALLOW: '127.0.0.1',
  // More than all calls need: it is none of the faults.
  CONCURRENCY: '400',
});
