/** Agents and sessions of a gateway, made by its API as a user makes them. */
import { authorizationOf, type Server } from './server.js';
import { askAgain } from './shed.js';

export type Body = Readonly<Record<string, unknown>>;

/** Address and token with which a caller joins a session. */
export interface Invite {
  readonly session_id: string;
  readonly media_url: string;
  readonly token: string;
  /** With an offer in LiveKit's signalling, which is the default; in a room that a LiveKit server holds; by an offer that is posted. */
  readonly by?: 'direct' | 'room' | 'offer';
}

/** Throws Error where it is refused, with the answer. */
export async function callPlatform<Answer = Body>(
  server: Pick<Server, 'origin' | 'key'>,
  path: string,
  body?: Body,
): Promise<Answer> {
  const answer = await fetch(`${server.origin}/v1/agent/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...authorizationOf(server), 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path}: HTTP ${answer.status} ${text.slice(0, 300)}`);
  return JSON.parse(text) as Answer;
}

/** In an agent's `tools`: "One moment, please" in place of an answer that is late would count as the answer. */
export const NO_FILLERS = { filler_mode: 'off' } as const;

/** The id of an agent that is published. */
export async function makeAgent(server: Server, name: string, config: Body = {}): Promise<string> {
  const { agent_id: id } = await callPlatform<{ agent_id: string }>(server, 'agents', { name, config });
  await callPlatform(server, `agents/${id}/publish`, {});
  return id;
}

export const makeSession = (server: Server, agent: string): Promise<Invite> =>
  askAgain(() => callPlatform<Invite>(server, 'sessions', { agent_id: agent }));
