/** The record of a call as the gateway sends it (docs/contract/platform.md 6.7), and positions on its timeline. */

import type { texts } from '../../texts.js';

export interface CallRow {
  readonly session_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly name: string | null;
  readonly status: string;
  readonly source: string;
  readonly caller_number: string | null;
  /** How a placed call came out, and who has answered it; null of all others. */
  readonly dial_status: string | null;
  readonly answered_by: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly duration_seconds: number | null;
  /** Turns in which the agent could not answer. */
  readonly failed_answers: number;
  readonly metadata: object;
}

interface Happened {
  readonly turn_id: number;
  readonly created_at: string;
}

export interface Message extends Happened {
  readonly type: 'message';
  readonly role: 'user' | 'assistant';
  readonly content: string;
  readonly error?: string;
  readonly backchannel?: boolean;
  readonly background?: boolean;
  readonly echo?: boolean;
  readonly filler?: boolean;
}

export interface ToolCall extends Happened {
  readonly type: 'tool_call';
  readonly call_id: string;
  readonly tool_name: string;
  readonly input: string;
}

export interface ToolResult extends Happened {
  readonly type: 'tool_result';
  readonly call_id: string;
  readonly tool_name: string;
  readonly status: string;
  readonly output: string;
  readonly error: string | null;
  readonly latency_ms: number;
}

/** A request to the agent's own language model that failed. */
export interface EndpointError extends Happened {
  readonly type: 'llm.endpoint_error';
  readonly model: string;
  readonly host: string;
  readonly error: string;
  readonly status_code: number | null;
  readonly retried: boolean;
}

/** Times are in milliseconds after `at`. */
export interface Turn {
  readonly number: number;
  readonly turn_id: number;
  readonly cause: string;
  readonly at: string;
  readonly latency_ms: number | null;
  readonly latency: Readonly<Record<string, number>> | null;
  readonly first_transcript_ms: number | null;
  /** Passages of its knowledge that the agent was told, best first. */
  readonly passages: readonly {
    readonly knowledge_source_id: string;
    readonly name: string;
    readonly found_by: keyof typeof texts.knowledge.search.foundBy;
  }[];
  readonly tools: readonly {
    readonly call_id: string;
    readonly started_ms: number;
    readonly ended_ms: number | null;
  }[];
  readonly ended_ms: number | null;
  readonly complete: boolean;
  readonly interrupted: { readonly by: string; readonly mistaken: boolean } | null;
}

export interface Analysis {
  readonly status: string;
  readonly summary: string | null;
  readonly reason: string | null;
  readonly data: readonly { readonly name: string; readonly value: unknown; readonly rationale: string }[];
  readonly criteria_results: readonly {
    readonly name: string;
    readonly result: string;
    readonly rationale: string;
  }[];
}

interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly tokens_estimated: boolean;
  /** The same tokens by the language model that answered. */
  readonly models: readonly {
    readonly model: string;
    readonly input_tokens: number;
    readonly output_tokens: number;
  }[];
  readonly characters: number;
  readonly recognised_seconds: number;
  /** Characters and audio by the speech engines, and the models of their services. */
  readonly engines: readonly {
    readonly engine: string;
    readonly model: string | null;
    readonly characters: number;
    readonly speech_seconds: number;
    readonly recognised_seconds: number;
  }[];
  readonly call_seconds: number | null;
}

/** Amounts in units of the currency. */
interface Cost {
  readonly currency: string;
  readonly total: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly characters: number;
  readonly speech_minute: number;
  readonly recognition_minute: number;
  readonly call_minute: number;
}

export interface Call extends CallRow {
  readonly version_number: number | null;
  readonly end_user_id: string | null;
  readonly ended_at: string | null;
  readonly ended_reason: string | null;
  /** Whether a recording can be requested. */
  readonly recorded: boolean;
  readonly items: readonly (Message | ToolCall | ToolResult | EndpointError)[];
  readonly turns: readonly Turn[];
  readonly usage: Usage;
  readonly cost: Cost | null;
  readonly analysis: Analysis | null;
}

export interface Track {
  readonly role: 'agent' | 'user' | 'human';
  readonly status: string;
  readonly url: string | null;
  readonly duration_ms: number | null;
  readonly started_at: string | null;
}

export interface Recording {
  readonly status: string;
  readonly tracks: readonly Track[];
  readonly error: string | null;
}

/** An utterance or action, `at` seconds after the beginning of the timeline. */
export interface Entry {
  readonly key: string;
  readonly at: number;
  readonly item: Message | ToolCall | EndpointError;
  readonly result?: ToolResult | undefined;
  /** The turn, if these are the agent's first words of an answer. */
  readonly turn?: Turn | undefined;
}

/** The parts of a latency by their names. */
export const partsOf = (latency: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(latency).map(([name, ms]) => [name.replace(/_ms$/, ''), ms]));

export const isLive = ({ status }: Pick<CallRow, 'status'>): boolean =>
  status === 'active' || status === 'pending';

/** Beginning of the timeline: that of the recording, if there is one. */
export function beginningOf(call: Call, recording: Recording | undefined): number {
  const tracks = (recording?.tracks ?? []).flatMap(({ started_at: at }) => (at ? [Date.parse(at)] : []));
  return tracks.length > 0 ? Math.min(...tracks) : Date.parse(call.started_at ?? call.created_at);
}

/** Position on the timeline, in seconds, of a moment of a turn. */
export const momentOf = (turn: Turn, ms: number, beginning: number): number =>
  Math.max(0, (Date.parse(turn.at) + ms - beginning) / 1000);

/** Position at which the agent was first heard in a turn. */
const heardAt = (turn: Turn, beginning: number): number => momentOf(turn, turn.latency_ms ?? 0, beginning);

export function lengthOf(call: Call, recording: Recording | undefined, beginning: number): number {
  const tracks = (recording?.tracks ?? []).map(
    ({ started_at: at, duration_ms: ms }) => (at ? Date.parse(at) - beginning : 0) + (ms ?? 0),
  );
  const told = (call.duration_seconds ?? 0) * 1000;
  const turns = call.turns.map((turn) => momentOf(turn, turn.ended_ms ?? 0, beginning) * 1000);
  return Math.max(1000, ...(tracks.length > 0 ? tracks : [told]), ...turns) / 1000;
}

/** Beginning of a message: for the agent, when it was first heard; for the user, the first words. */
function messageAt(item: Message, turn: Turn | undefined, beginning: number): number {
  const written = Math.max(0, (Date.parse(item.created_at) - beginning) / 1000);
  if (!turn) return written;
  if (item.role === 'assistant') return heardAt(turn, beginning);
  return turn.first_transcript_ms === null
    ? written
    : Math.min(written, momentOf(turn, turn.first_transcript_ms, beginning));
}

/** The entries in the order of the record. A turn is attached to the first words of its answer. */
export function entriesOf({ items, turns }: Call, beginning: number): readonly Entry[] {
  const results = new Map(
    items.flatMap((item) => (item.type === 'tool_result' ? [[item.call_id, item]] : [])),
  );
  const told = new Set<string>();
  const turnOf = (item: Message): Turn | undefined => {
    const answer = `${item.role} ${item.turn_id}`;
    if (item.filler || item.backchannel || told.has(answer)) return undefined;
    told.add(answer);
    return turns.find(({ turn_id: id, latency_ms: ms }) => id === item.turn_id && ms !== null);
  };
  return items.flatMap((item, index): Entry[] => {
    if (item.type === 'tool_result') return [];
    const key = String(index);
    const at = Math.max(0, (Date.parse(item.created_at) - beginning) / 1000);
    if (item.type === 'tool_call') return [{ key, at, item, result: results.get(item.call_id) }];
    if (item.type === 'llm.endpoint_error') return [{ key, at, item }];
    const turn = turnOf(item);
    return [
      { key, at: messageAt(item, turn, beginning), item, turn: item.role === 'assistant' ? turn : undefined },
    ];
  });
}

/** The entry heard at this time: the last one that has begun. */
export const entryAt = (entries: readonly Entry[], seconds: number): Entry | undefined =>
  entries.reduce<Entry | undefined>(
    (last, entry) => (entry.at <= seconds + 0.05 && entry.at >= (last?.at ?? 0) ? entry : last),
    undefined,
  );

/** Turns that answer speech; in a text call, those that answer text. Openers are left out, since nobody waited for them. */
function answersIn(turns: readonly Turn[]): readonly Turn[] {
  const of = (wanted: string) => turns.filter(({ cause }) => cause === wanted);
  const spoken = of('turn');
  return spoken.length > 0 ? spoken : of('typed');
}

/** Milliseconds within which this fraction of the answers was heard. */
export function percentile(turns: readonly Turn[], fraction: number): number | undefined {
  const known = answersIn(turns).flatMap(({ latency_ms: ms }) => (ms === null ? [] : [ms]));
  known.sort((one, other) => one - other);
  return known[Math.min(known.length - 1, Math.ceil(known.length * fraction) - 1)];
}
