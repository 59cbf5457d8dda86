/** What must be there when the load is over: events of calls, each once, and their recordings, whole. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { httpDouble } from '../../fixtures/http-double.js';
import { client } from '../../fixtures/platform/agents.js';
import { until } from '../../fixtures/until.js';
import { countsOf } from '../checks.js';
import type { CallRecord } from '../record.js';

const DELIVERED_MS = 120_000;
const UPLOADED_MS = 120_000;

interface Event {
  readonly event_id: string;
  readonly session: { readonly id: string };
  readonly event: string;
}

/** A webhook's address on this machine, and how often each session's `call.ended` came there. */
export async function startHook(host: string) {
  const ended = new Map<string, Set<string>>();
  const server = httpDouble((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const { event, event_id: id, session } = JSON.parse(body) as Event;
      if (event === 'call.ended') ended.set(session.id, (ended.get(session.id) ?? new Set()).add(id));
      response.end();
    });
  }).listen(0, host);
  await once(server, 'listening');
  return { url: `http://${host}:${(server.address() as AddressInfo).port}/hook`, ended };
}

/** What became of the events of calls that have ended. An event that is delivered twice is the same event. */
export async function eventsOf(
  calls: readonly CallRecord[],
  ended: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<readonly string[]> {
  const of = calls.filter(({ reason }) => reason !== null);
  const missing = () => of.filter(({ session }) => !ended.has(session));
  await until('all are delivered', () => missing().length === 0, DELIVERED_MS).catch(() => undefined);
  return [
    ...missing().map(({ session }) => `call.ended of ${session} was not delivered`),
    ...of
      .filter(({ session }) => (ended.get(session)?.size ?? 0) > 1)
      .map(({ session }) => `${session} ended twice`),
  ];
}

/** The states of recordings of calls that were answered: `{ complete: 40, 'failed: interrupted': 1 }`. */
export async function recordingsOf(
  base: string,
  calls: readonly CallRecord[],
): Promise<ReadonlyMap<string, number>> {
  const ask = client(base);
  const stateOf = async ({ session }: CallRecord): Promise<string> => {
    const look = async (): Promise<string | undefined> => {
      const { status, body } = await ask(`sessions/${session}/recording`);
      if (status !== 200) return String(status);
      const { status: state, error_code: code } = body as { status: string; error_code: string | null };
      return state === 'processing'
        ? undefined
        : code === null || code === undefined
          ? state
          : `${state}: ${code}`;
    };
    return until('it is there', look, UPLOADED_MS).catch(() => 'processing');
  };
  const answered = calls.filter(({ reason, answers }) => reason !== null && answers > 0);
  const states: string[] = [];
  for (const call of answered) states.push(await stateOf(call));
  return countsOf(states);
}
