/** The events of an agent's client that need its call, by their types: each has an effect, or throws and has none. */
import { LIMITS } from '../../../contracts/limits.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { SocketCall } from '../../../contracts/ports/calls/socket-calls.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import { showItem, textIn } from './items.js';
import { ownersOfResponse } from './settings.js';
import type { SessionState } from './state.js';

type Handler = (session: SessionState, call: SocketCall, fields: PlainObject) => void;

const unsupported = (message: string, param: string): ServiceError =>
  new ServiceError('unsupported_option', { message, param });

const EMPTY = 'input_audio_buffer_commit_empty';

const commit: Handler = (session, call) => {
  const { settings, turns, audio, byRtp } = session;
  const isManual = settings.turns === null;
  if (!isManual && !turns.isVoiced)
    throw new Fault(EMPTY, 'The agent hears by itself when a turn is over, and nobody speaks');
  if (!isManual) return call.release(false);
  if (!byRtp && !audio.commit()) throw new Fault(EMPTY);
  session.commits += 1;
  turns.commit();
};

const clear: Handler = (session) => {
  session.audio.clear();
  session.events.send('input_audio_buffer.cleared');
};

/** The id of an item that a client names itself. Errors: `Fault`. */
function ownId({ id }: PlainObject, { items }: SessionState): string | undefined {
  if (id === undefined || id === null) return undefined;
  const { min, max } = LIMITS.realtime.idLength;
  if (typeof id !== 'string' || id.length < min || id.length > max)
    throw new Fault('invalid_event', `item.id must be text of ${min} to ${max} characters`, 'item.id');
  if (items.has(id)) throw new Fault('invalid_event', 'There is an item with this id', 'item.id');
  return id;
}

/** Counts what the client brings into the conversation. Errors: `Fault`. */
function bring(session: SessionState, text: string): void {
  session.brought += Buffer.byteLength(text);
  if (session.brought > LIMITS.agentRealtime.broughtBytes)
    throw new Fault('conversation_too_large', 'The client has brought as many texts as it may');
}

type Role = 'user' | 'assistant' | 'system';
const ROLES: readonly unknown[] = ['user', 'assistant', 'system'] satisfies Role[];

function createMessage(session: SessionState, call: SocketCall, item: PlainObject): void {
  const { role } = item;
  if (!ROLES.includes(role))
    throw new Fault('invalid_event', 'item.role must be user, assistant or system', 'item.role');
  const [text, id] = [textIn(item), ownId(item, session)];
  // What was answered already waits for nothing, and keeps its place.
  if (role === 'assistant') bringTyped(session, call);
  if (role === 'user' && session.typed.length >= LIMITS.agentRealtime.typedItems)
    throw new Fault('conversation_too_large', 'Too many messages wait for a response.create');
  bring(session, text);
  if (role === 'user') session.typed.push(text);
  else call.wish({ kind: 'item', role: role as Role, text });
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  session.items.whole({ type: 'message', role, status: 'completed', content: [{ type, text }] }, id);
}

/** Errors: `Fault`. */
function textOf(item: PlainObject, name: string): string {
  const value = item[name];
  if (typeof value === 'string') return value;
  throw new Fault('invalid_event', `item.${name} must be of type string`, `item.${name}`);
}

/** A call of a conversation of before, as clients bring it along that begin another one: told to the model with its output. */
function createCall(session: SessionState, call: SocketCall, item: PlainObject): void {
  const [callId, name, args] = [textOf(item, 'call_id'), textOf(item, 'name'), textOf(item, 'arguments')];
  const id = ownId(item, session);
  bring(session, callId + name + args);
  bringTyped(session, call);
  session.past.set(callId, `The function ${name} was called with ${args}.`);
  const status = 'completed';
  session.items.whole({ type: 'function_call', status, call_id: callId, name, arguments: args }, id);
}

function createOutput(session: SessionState, call: SocketCall, item: PlainObject): void {
  const output = textOf(item, 'output');
  const { call_id: callId } = item;
  const past = typeof callId === 'string' ? session.past.get(callId) : undefined;
  if (typeof callId !== 'string' || (past === undefined && !session.calls.has(callId)))
    throw new Fault('item_not_found', 'No function call waits for this output', 'item.call_id');
  const id = ownId(item, session);
  // The agent's own calls have ids that it gives again in each call: those that wait come first.
  if (session.calls.delete(callId)) call.message({ type: 'client_tool.result', callId, result: output });
  else {
    bring(session, output);
    session.past.delete(callId);
    call.wish({ kind: 'item', role: 'system', text: `${past} It answered: ${output}` });
  }
  session.items.whole({ type: 'function_call_output', call_id: callId, output }, id);
}

const CREATORS: ReadonlyMap<string, Handler> = new Map([
  ['message', createMessage],
  ['function_call', createCall],
  ['function_call_output', createOutput],
]);

const create: Handler = (session, call, { item }) => {
  if (!isPlainObject(item)) throw new Fault('invalid_event', 'item must be an object', 'item');
  const { type = 'message' } = item;
  const make = typeof type === 'string' ? CREATORS.get(type) : undefined;
  if (!make)
    throw unsupported('Only messages, and functions’ calls and outputs, can be created', 'item.type');
  make(session, call, item);
};

const retrieve: Handler = ({ items, events }, _call, fields) =>
  events.send('conversation.item.retrieved', { item: showItem(items.get(fields)) });

/** What the agent was cut off in and nobody has heard: clients that played nothing of it delete it. */
const remove: Handler = ({ items, answers }, call, fields) => {
  const item = items.get(fields);
  const heard = item.fields['status'] === 'completed' ? undefined : answers.truncate(item.id, 0);
  if (!heard)
    throw unsupported(
      'An agent’s conversation is its record: only what it was cut off in can be deleted',
      'item_id',
    );
  call.wish({ kind: 'heard', ...heard });
  items.remove(items.get(fields));
};

const truncate: Handler = ({ items, answers, events }, call, fields) => {
  const { id } = items.get(fields);
  const { content_index: index, audio_end_ms: ms } = fields;
  if (typeof ms !== 'number' || !(ms >= 0))
    throw new Fault('invalid_event', 'audio_end_ms must be a number of milliseconds', 'audio_end_ms');
  const heard = answers.truncate(id, ms);
  if (!heard) throw new Fault('item_not_found', 'Only the agent’s last audio can be truncated', 'item_id');
  call.wish({ kind: 'heard', ...heard });
  events.send('conversation.item.truncated', { item_id: id, content_index: index ?? 0, audio_end_ms: ms });
};

/** Brings typed texts into the conversation, and asks for nothing. */
export function bringTyped({ typed }: Pick<SessionState, 'typed'>, call: SocketCall): void {
  for (const text of typed.splice(0)) call.wish({ kind: 'item', role: 'user', text });
}

/** What is asked of a response. Errors: `Fault`. */
function askedOf({ response }: PlainObject): PlainObject {
  if (response === undefined || response === null) return {};
  if (isPlainObject(response)) return response;
  throw new Fault('invalid_event', 'response must be an object', 'response');
}

/** Errors: `Fault`. */
function metadataOf({ metadata }: PlainObject): PlainObject | undefined {
  if (metadata === undefined || metadata === null) return undefined;
  const most = LIMITS.session.metadataBytes;
  if (isPlainObject(metadata) && Buffer.byteLength(JSON.stringify(metadata)) <= most) return metadata;
  const param = 'response.metadata';
  throw new Fault('invalid_event', `${param} must be an object of at most ${most} bytes of JSON`, param);
}

/** The instructions of a response, which hold for it alone. Errors: `Fault`, `unsupported_option`. */
function instructionsOf({ instructions, conversation, input }: PlainObject): string | undefined {
  if (conversation === 'none')
    throw unsupported('An agent answers in its conversation only', 'response.conversation');
  if (Array.isArray(input) && input.length > 0)
    throw unsupported('Create the items of the conversation first', 'response.input');
  if (instructions === undefined || instructions === null || instructions === '') return undefined;
  const most = LIMITS.session.typedLength;
  if (typeof instructions === 'string' && instructions.length <= most) return instructions;
  const param = 'response.instructions';
  throw new Fault('invalid_event', `${param} must be text of at most ${most} characters`, param);
}

/** An answer to what was typed, to the turns that were committed, or to all that was said. One that is on its way already is this one. */
const respond: Handler = (session, call, fields) => {
  const asked = askedOf(fields);
  const [instructions, metadata] = [instructionsOf(asked), metadataOf(asked)];
  session.note(ownersOfResponse(asked));
  const { commits, typed } = session;
  if (metadata) session.answers.asked(metadata);
  const isNew = typed.length > 0 || commits > 0;
  if (!isNew && !session.rests) return;
  if (!session.rate.take()) throw new ServiceError('rate_limited');
  if (instructions !== undefined) call.wish({ kind: 'instructions', text: instructions });
  session.commits = 0;
  if (commits > 0) {
    bringTyped(session, call);
    return call.release(true);
  }
  call.wish({ kind: 'answer', text: typed.splice(0).join('\n') });
};

const cancel: Handler = (session, call, { response_id: id }) => {
  if (session.rests || !session.answers.isMeant(id)) throw new Fault('response_cancel_not_active');
  session.answers.cancelled();
  call.message({ type: 'user.interrupt' });
};

/** Stops what the agent says, as a client does that plays it from a track. */
const clearOutput: Handler = (session, call) => {
  if (!session.byRtp) throw unsupported('The audio in events is the client’s to clear', 'type');
  if (session.rests || session.answers.isCancelled) return;
  session.answers.cancelled();
  call.message({ type: 'user.interrupt' });
};

/** Those about the audio that a client sends in events. */
export const OF_AUDIO: ReadonlySet<string> = new Set([
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
]);

export const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ['input_audio_buffer.commit', commit],
  ['input_audio_buffer.clear', clear],
  ['conversation.item.create', create],
  ['conversation.item.retrieve', retrieve],
  ['conversation.item.delete', remove],
  ['conversation.item.truncate', truncate],
  ['response.create', respond],
  ['response.cancel', cancel],
  ['output_audio_buffer.clear', clearOutput],
]);
