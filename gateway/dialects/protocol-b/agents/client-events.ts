/** Messages of a conversation's client (docs/contract/agent-elevenlabs.md 3): JSON objects, of which those with audio have no type. */
import { LIMITS } from '../../../../contracts/limits.js';
import { booleanOf } from '../../../../contracts/schemas/coerce.js';
import type { SocketCall } from '../../../../contracts/ports/calls/socket-calls.js';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { SocketFrame } from '../../../server/frames/frame-queue.js';
import { frameFields, type FrameReading, soleText } from '../../../server/frames/json-frames.js';
import { invalidMessage } from './faults.js';

export const AUDIO = 'user_audio_chunk';
export const INITIATION = 'conversation_initiation_client_data';

/** How a message with audio begins if written by JavaScript's JSON.stringify, and by Python's json.dumps. */
const AUDIO_HEADS: readonly string[] = [`{"${AUDIO}":"`, `{"${AUDIO}": "`];

const READING: FrameReading = {
  base64: AUDIO,
  unreadable: () => invalidMessage('The message is not valid JSON, or has too many parts'),
  noObject: () => invalidMessage('A message is a JSON object'),
};

/** The base64, not validated, of a message with nothing but audio; undefined for any other one. */
export const audioIn = (frame: SocketFrame): string | undefined =>
  typeof frame === 'string' ? soleText(frame, AUDIO_HEADS) : undefined;

/** Errors: `invalid_request`. */
export const readMessage = (frame: SocketFrame): PlainObject | Promise<PlainObject> =>
  frameFields(frame, READING);

/** The conversation, as the handlers see it. */
export interface ConversationState {
  /** Tools that the client was asked to run, and whether the agent waits for the result. */
  readonly calls: Map<string, boolean>;
  /** Bytes of the texts that the client has brought along. */
  brought: number;
  /** The answer to a ping. */
  pong(eventId: unknown): void;
}

type Handler = (conversation: ConversationState, call: SocketCall, fields: PlainObject) => void;

function textIn({ text }: PlainObject): string {
  if (typeof text === 'string') return text;
  throw invalidMessage('text must be of type string', 'text');
}

const say: Handler = (_conversation, call, fields) =>
  call.message({ type: 'user.message', text: textIn(fields) });

/** Text with attachments, of which only the text is taken: files were refused before. */
const sayAll: Handler = (conversation, call, { text }) => {
  if (!isPlainObject(text)) throw invalidMessage('text must be a user_message', 'text');
  say(conversation, call, text);
};

/** Told to the model, and not answered. */
const bring: Handler = (conversation, call, fields) => {
  const text = textIn(fields);
  const { typedLength: most } = LIMITS.session;
  if (text.length > most) throw invalidMessage(`text must have at most ${most} characters`, 'text');
  const brought = conversation.brought + Buffer.byteLength(text);
  if (brought > LIMITS.agentRealtime.broughtBytes)
    throw invalidMessage('The client has brought as many texts as it may', 'text');
  conversation.brought = brought;
  if (text.trim() !== '') call.wish({ kind: 'item', role: 'system', text });
};

/** A result as text: clients of other languages send objects, too. */
const resultIn = ({ result }: PlainObject): string =>
  typeof result === 'string' ? result : JSON.stringify(result ?? '');

const finishTool: Handler = ({ calls }, call, fields) => {
  const { tool_call_id: callId, is_error: failed } = fields;
  const isAwaited = typeof callId === 'string' ? calls.get(callId) : undefined;
  if (typeof callId !== 'string' || isAwaited === undefined)
    throw invalidMessage('No tool call waits for this result', 'tool_call_id');
  const result = resultIn(fields);
  const most = LIMITS.agentRealtime.resultBytes;
  if (Buffer.byteLength(JSON.stringify(result)) > most)
    throw invalidMessage(`result must have at most ${most} bytes of JSON`, 'result');
  calls.delete(callId);
  const isError = booleanOf(failed) === true;
  if (isAwaited) call.message({ type: 'client_tool.result', callId, result, isError });
};

/** Without effect, as the table of options says. */
const nothing: Handler = () => undefined;

export const HANDLERS: ReadonlyMap<unknown, Handler> = new Map<unknown, Handler>([
  ['user_message', say],
  ['multimodal_message', sayAll],
  ['contextual_update', bring],
  ['user_activity', (_conversation, call) => call.message({ type: 'user.activity' })],
  ['client_tool_result', finishTool],
  ['pong', (conversation, _call, { event_id: id }) => conversation.pong(id)],
  ['feedback', nothing],
  ['mcp_tool_approval_result', nothing],
]);
