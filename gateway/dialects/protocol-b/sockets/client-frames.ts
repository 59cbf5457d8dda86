/**
 * Frames that clients of the speech sockets send (docs/contract/protocol-b.md 3): text frames of JSON. Null members
 * count as absent, unknown ones are ignored, booleans follow rule 3. Size and depth are checked before parsing.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { withoutByteOrderMark } from '../../../../contracts/text/byte-order-mark.js';
import { booleanOf } from '../../../../contracts/schemas/coerce.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { B_SPEECH_SOCKET } from '../../../../contracts/options/protocol-b.js';
import { refuseOptions } from '../../../../contracts/options/reading.js';
import { checker, withoutNulls } from '../../../../contracts/schemas/check.js';
import { type Static, type TSchema, Type } from '../../../../contracts/schemas/type.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { boundJson } from '../../../server/bodies/structure.js';
import type { SocketFrame, LongText } from '../../../server/frames/frame-queue.js';
import { parseLongText } from '../../../server/frames/long-json.js';
import { keyNames, withoutScheme } from '../auth.js';
import { faultOf, invalidMessage, TOO_LARGE } from './faults.js';

const { bufferedTextBytes, schedule, contextIdLength } = LIMITS.streamInput;

/** Longest frame: JSON may write each byte of the longest text as `\u00xx`; the rest is for the other fields. */
const MOST_CHARACTERS = 6 * bufferedTextBytes + 64 * 1024;
const KEY_LENGTH = 1024;

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const Key = Type.String({ maxLength: KEY_LENGTH });
const ContextId = optional(Type.String({ maxLength: contextIdLength }));
const Flag = optional(Type.Unknown());

const Message = Type.Object({
  text: optional(Type.String()),
  context_id: ContextId,
  contextId: ContextId,
  voice_settings: optional(Type.Unknown()),
  generation_config: optional(
    Type.Object({
      chunk_length_schedule: optional(
        Type.Array(Type.Number({ minimum: schedule.item.min, maximum: schedule.item.max }), {
          maxItems: schedule.items,
        }),
      ),
    }),
  ),
  flush: Flag,
  try_trigger_generation: Flag,
  close_context: Flag,
  close_socket: Flag,
});
type Message = Static<typeof Message>;

type KeyNames = Pick<Vocabulary, 'protocolBKeyHeader'>;

const checkMessage = checker(Message, 'the message');
const checkKey = checker(Key);
const checkNames = checker(Type.Object({ context_id: ContextId, contextId: ContextId }));

/** Boolean fields; a frame lists those that are true. */
const FLAGS = ['flush', 'try_trigger_generation', 'close_context', 'close_socket'] as const;
type Flag = (typeof FLAGS)[number];

export interface SpeechClientFrame {
  readonly contextId: string | undefined;
  readonly text: string | undefined;
  readonly flags: ReadonlySet<Flag>;
  /** Not validated yet; undefined if absent or empty. */
  readonly voiceSettings: unknown;
  /** Empty for the default. */
  readonly schedule: readonly number[];
  readonly key: string | undefined;
}

/** Error for an invalid frame. `contextId`: the context that it names, if it could be read so far. */
export class SpeechFrameFault extends Error {
  constructor(
    readonly fault: SocketFault,
    readonly contextId?: string,
  ) {
    super(fault.message);
  }
}

const refuse = (problem: string): never => {
  throw new SpeechFrameFault(invalidMessage(problem));
};

/** Errors: `SpeechFrameFault` for more nodes than are read of a client without a key. */
function boundStranger(bytes: Uint8Array): void {
  try {
    boundJson(bytes, LIMITS.unauthenticated.parts);
  } catch {
    throw new SpeechFrameFault(TOO_LARGE);
  }
}

const unreadable = (): SpeechFrameFault =>
  new SpeechFrameFault(invalidMessage('not JSON, or nested too deep'));

function checkSize({ length }: SocketFrame): void {
  if (length > MOST_CHARACTERS) throw new SpeechFrameFault(TOO_LARGE);
}

function parse(data: string, isStranger: boolean): unknown {
  checkSize(data);
  const bytes = Buffer.from(data);
  if (isStranger) boundStranger(bytes);
  try {
    boundJson(bytes);
    return JSON.parse(withoutByteOrderMark(data)) as unknown;
  } catch {
    throw unreadable();
  }
}

/** In turns of the event loop. */
async function parseLong(frame: LongText): Promise<unknown> {
  checkSize(frame);
  return parseLongText(frame).catch(() => {
    throw unreadable();
  });
}

function messageOf(value: unknown): Message {
  const checked = checkMessage(withoutNulls(value));
  return checked.ok ? checked.value : refuse(checked.problems[0].message);
}

function flagsOf(message: Message): Set<Flag> {
  const flags = new Set<Flag>();
  for (const flag of FLAGS) {
    const value = booleanOf(message[flag]) ?? refuse(`${flag} must be of type boolean`);
    if (value) flags.add(flag);
  }
  return flags;
}

const holdsNothing = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

function keyOf(message: Message, names: KeyNames): string | undefined {
  const fields = message as Readonly<Record<string, unknown>>;
  const key = keyNames(names)
    .map((name) => fields[name])
    .find((value) => value !== undefined);
  if (key === undefined) return undefined;
  const checked = checkKey(key);
  return checked.ok ? withoutScheme(checked.value) : refuse(checked.problems[0].message);
}

/** Errors: `SpeechFrameFault`. */
function checkOptions(message: Message): void {
  try {
    refuseOptions(message, B_SPEECH_SOCKET);
  } catch (error) {
    throw error instanceof ServiceError ? new SpeechFrameFault(faultOf(error)) : error;
  }
}

/** `isStranger`: nobody knows yet who the client is, so less of it is read. Errors: `SpeechFrameFault`. */
export function readFrame(
  frame: SocketFrame,
  names: KeyNames,
  isStranger = false,
): SpeechClientFrame | Promise<SpeechClientFrame> {
  if (frame instanceof Uint8Array) return refuse('frames must be text');
  if (typeof frame === 'string') return frameOf(parse(frame, isStranger), names);
  return parseLong(frame).then((value) => frameOf(value, names));
}

/** The context that a message names, even if nothing else of it is valid. */
function contextNamed(value: unknown): string | undefined {
  const checked = checkNames(withoutNulls(value));
  return checked.ok ? (checked.value.context_id ?? checked.value.contextId) : undefined;
}

/** Errors: `SpeechFrameFault`, with the context that is at fault. */
function frameOf(value: unknown, names: KeyNames): SpeechClientFrame {
  try {
    return validFrame(value, names);
  } catch (error) {
    throw error instanceof SpeechFrameFault ? new SpeechFrameFault(error.fault, contextNamed(value)) : error;
  }
}

function validFrame(value: unknown, names: KeyNames): SpeechClientFrame {
  const message = messageOf(value);
  checkOptions(message);
  const flags = flagsOf(message);
  const { text, voice_settings: settings, generation_config: config } = message;
  const key = keyOf(message, names);
  if (text === undefined && flags.size === 0 && key === undefined) refuse('missing field text');
  return {
    contextId: message.context_id ?? message.contextId,
    text,
    flags,
    voiceSettings: holdsNothing(settings) ? undefined : settings,
    schedule: config?.chunk_length_schedule ?? [],
    key,
  };
}
