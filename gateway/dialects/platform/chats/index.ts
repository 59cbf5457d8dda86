/**
 * Chats: an agent in writing (docs/contract/platform.md 6.19). A chat is a session, made by the same checks; whoever began it holds a
 * token for the rest of it, beside the keys of its workspace.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Chats } from '../../../../contracts/ports/calls/chats.js';
import type { SessionDetail } from '../../../../contracts/ports/sessions/sessions.js';
import { ErrorBody } from '../../../../contracts/schemas/shapes.js';
import { Type } from '../../../../contracts/schemas/type.js';
import { authenticateKey, bearerToken } from '../../../server/auth.js';
import { answers, jsonBody } from '../../../server/openapi/openapi-parts.js';
import type { HttpRequest, Route } from '../../../server/port.js';
import { json } from '../../../server/replies.js';
import { openRoutes, type RouteHandler, type RouteRow, tagged } from '../../../server/routes.js';
import { readBody } from '../bodies.js';
import { checked } from '../checked.js';
import { invalid, notFound, problem } from '../errors.js';
import { bodyFailures, failures, found, idOf } from '../rows.js';
import { admitting, type CreatedKind, creating, type CreationParts, refusals } from '../sessions/creation.js';
import { itemOf } from '../sessions/entity.js';
import { makeSession } from '../sessions/making.js';
import { reader } from '../sessions/request.js';
import { streamedAnswer, wholeAnswer } from './answering.js';
import { ChatAnswer, ChatEntity, ChatRequest, CreatedChat, MessageRequest } from './schema.js';

type ChatHandler = RouteHandler<CreationParts, void>;

const WHAT = 'Chat';

const chatRequest = reader(ChatRequest) as CreatedKind['read'];
const messageRequest = checked(MessageRequest);

const start: CreatedKind['start'] = async (runnable, wanted, source, request, parts) => {
  const { runs, transport } = parts;
  const { id: agentId, workspaceId } = runnable.agent;
  const admit = source === 'public' ? { admit: admitting(request, agentId, parts) } : {};
  const { record } = await makeSession(runnable, wanted, { source, inWriting: true, ...admit }, parts);
  const { id } = record;
  try {
    const chat = await transport.chats.open(id, workspaceId);
    const opening = await wholeAnswer(chat, id, undefined, request.signal);
    // Whoever has gone never learns its id.
    if (request.isAborted) await runs.end(id, 'hangup');
    return json(201, { ...opening, token: transport.chats.tokens.issue(id, workspaceId) });
  } catch (error) {
    await runs.end(id, 'error');
    throw error;
  }
};

/** A chat, and whether it is asked for with its token. */
interface KnownChat {
  readonly session: SessionDetail;
  readonly workspaceId: string;
  readonly byToken: boolean;
}

/** The workspace whose chat may be used: that of the chat's own token, or of a key. Errors: `not_found`, those of keys. */
async function workspaceOf(
  request: HttpRequest,
  id: string,
  { keys, transport }: CreationParts,
): Promise<Omit<KnownChat, 'session'>> {
  const { tokens }: Chats = transport.chats;
  const token = bearerToken(request.headers);
  if (token === undefined || !tokens.isOne(token)) {
    const caller = await authenticateKey(token, keys, request.permission);
    request.authenticated(caller);
    return { workspaceId: caller.workspaceId, byToken: false };
  }
  const workspaceId = tokens.workspaceOf(token, id);
  if (workspaceId === undefined) throw new ServiceError('invalid_key');
  request.authenticated({ workspaceId });
  return { workspaceId, byToken: true };
}

/** Errors: `not_found`, also for sessions that are no chats. */
async function chatOf(request: HttpRequest, parts: CreationParts): Promise<KnownChat> {
  const id = idOf(request, 'chat_id', WHAT);
  const who = await workspaceOf(request, id, parts);
  const session = found(await parts.sessions.read(id, who.workspaceId), WHAT);
  if (session.source !== 'chat') throw notFound(WHAT);
  return { session, ...who };
}

const wantsEvents = ({ headers }: HttpRequest, { stream }: MessageRequest): boolean =>
  stream ?? (headers.get('accept') ?? '').toLowerCase().includes('text/event-stream');

const write: ChatHandler = async (request, parts) => {
  const { session, workspaceId } = await chatOf(request, parts);
  const message = messageRequest(await readBody(request));
  const { text } = message;
  if (text.trim() === '') throw invalid([problem(['text'], 'text must not be blank')]);
  const { id } = session;
  const open = () => parts.transport.chats.open(id, workspaceId);
  if (wantsEvents(request, message)) return streamedAnswer(open, id, text, request);
  return json(200, await wholeAnswer(await open(), id, text, request.signal));
};

const read: ChatHandler = async (request, parts) => {
  const { session, byToken } = await chatOf(request, parts);
  const { agentId, agentName, status, endedReason, createdAt, endedAt, items } = session;
  // What tools were asked and answered may be the owner's alone.
  const shown = byToken ? items.filter(({ type }) => type === 'message') : items;
  return json(200, {
    chat_id: session.id,
    agent_id: agentId,
    agent_name: agentName,
    status,
    ended_reason: endedReason,
    created_at: createdAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    items: shown.map(itemOf),
  });
};

const end: ChatHandler = async (request, parts) => {
  const { session, byToken } = await chatOf(request, parts);
  await parts.runs.end(session.id, byToken ? 'hangup' : 'ended_by_api');
  return { status: 204 };
};

const CHATS = '/v1/agent/chats';
const CHAT = `${CHATS}/{chat_id}`;
const { message, messages, idleMs } = LIMITS.agentChat;
const BY_TOKEN = 'With a key, or with the token of the chat.';

const ROWS: readonly RouteRow<CreationParts, void>[] = tagged('chats', [
  {
    method: 'POST',
    path: CHATS,
    permission: 'sessions',
    handler: creating({ read: chatRequest, start }),
    description: {
      summary: 'Begin a chat',
      description:
        'With an agent, in writing: a session without sound, by the same checks as others, with a key or as a public one. Its answer ' +
        `has what the agent opens with, and a token for the rest. A chat ends ${idleMs / 60_000} minutes after its last message.`,
      requestBody: jsonBody(ChatRequest),
      responses: {
        ...answers(201, 'The chat', CreatedChat),
        ...bodyFailures(404),
        ...refusals(400, 402, 403, 409, 429),
      },
    },
  },
  {
    method: 'POST',
    path: `${CHAT}/messages`,
    permission: 'sessions',
    handler: write,
    description: {
      summary: 'Write in a chat',
      operationId: 'writeInChat',
      description:
        `${BY_TOKEN} At most ${message.toLocaleString('en')} characters, and ${messages} messages a chat, one at a time. As a stream: ` +
        'events `delta` (`text`), `tool_call`, `tool_result`, `message`, and `end` or `error` as the last one. Who leaves stops the answer.',
      requestBody: jsonBody(MessageRequest),
      responses: {
        200: {
          description: 'The answer, or its events',
          content: { ...jsonBody(ChatAnswer), 'text/event-stream': Type.String() },
        },
        ...bodyFailures(404),
        ...refusals(402),
        ...answers(409, 'Another message is being answered, or the chat has ended or is full', ErrorBody),
      },
    },
  },
  {
    method: 'GET',
    path: CHAT,
    permission: 'records',
    handler: read,
    description: {
      summary: 'Read a chat',
      description: `${BY_TOKEN} Its record as a session has all of it: \`GET /v1/agent/sessions/{session_id}\`.`,
      responses: { ...answers(200, 'The chat', ChatEntity), ...failures(404) },
    },
  },
  {
    method: 'DELETE',
    path: CHAT,
    permission: 'sessions',
    whileDraining: true,
    handler: end,
    description: {
      summary: 'End a chat',
      description: `${BY_TOKEN} At once, also while a message is answered. The record stays; ending it again changes nothing.`,
      responses: { ...answers(204, 'Ended'), ...failures(404) },
    },
  },
]);

export const chatRoutes = (parts: CreationParts): readonly Route[] => openRoutes(ROWS, parts);
