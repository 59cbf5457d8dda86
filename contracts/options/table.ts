/** The whole table of options, by surface. */
import { B_CONVERSATION } from './conversation.js';
import { NATIVE_OPTIONS, NATIVE_SPEECH, NATIVE_TRANSCRIPTION } from './native.js';
import {
  A_CHAT,
  A_CLIENT_SECRET,
  A_MODELS,
  A_RESPONSE,
  A_SESSION,
  A_SPEECH,
  A_TRANSCRIPTION,
} from './protocol-a.js';
import {
  B_SPEECH,
  B_SPEECH_SOCKET,
  B_TRANSCRIPTION,
  B_TRANSCRIPTION_SOCKET,
  B_VOICES,
} from './protocol-b.js';
import type { OptionRow, OptionRows } from './row.js';

/** Each surface with its options. */
export const OPTIONS = {
  'A speech': A_SPEECH,
  'A transcription': A_TRANSCRIPTION,
  'A chat': A_CHAT,
  'A models': A_MODELS,
  'A realtime session': A_SESSION,
  'A realtime response': A_RESPONSE,
  'A client secret': A_CLIENT_SECRET,
  'B speech': B_SPEECH,
  'B speech socket': B_SPEECH_SOCKET,
  'B transcription': B_TRANSCRIPTION,
  'B transcription socket': B_TRANSCRIPTION_SOCKET,
  'B conversation': B_CONVERSATION,
  'B voices': B_VOICES,
  'native options of A and B': NATIVE_OPTIONS,
  'native speech': NATIVE_SPEECH,
  'native transcription': NATIVE_TRANSCRIPTION,
} as const satisfies Readonly<Record<string, OptionRows>>;

export type Surface = keyof typeof OPTIONS;

/**
 * The row of an option; of an object whose members have rows, that of its first member. Undefined if the table does not know
 * the option.
 */
export function rowOf(surface: Surface, name: string): OptionRow | undefined {
  const rows: OptionRows = OPTIONS[surface];
  if (Object.hasOwn(rows, name)) return rows[name];
  const member = Object.keys(rows).find((known) => known.startsWith(`${name}.`));
  return member === undefined ? undefined : rows[member];
}
