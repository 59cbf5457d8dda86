/**
 * The turns of a conversation in its record: one row for each answer of the agent, with its cause, the times of
 * its steps, and its usage. Times are whole milliseconds after `at`, negative before it.
 */

import type { AnswerCut } from '../ports/chat.js';

/** Why the agent spoke, or was going to: a turn of the user, spoken or typed, or its own initiative. */
export const TURN_CAUSES = [
  'turn',
  'typed',
  'opener',
  'reengage',
  'farewell',
  'news',
  'handover',
  'continue',
  'warning',
] as const;
export type TurnCause = (typeof TURN_CAUSES)[number];

/**
 * Why an answer was cut short. By the user: words, a command to stop, a typed message, the client's `user.interrupt`. Or by the end
 * of the call: the user hung up or is gone, the maximum duration, the API, a failure.
 */
export const INTERRUPTIONS = [
  'words',
  'command',
  'message',
  'client',
  'hang_up',
  'gone',
  'timeout',
  'api',
  'error',
] as const;
export type InterruptedBy = (typeof INTERRUPTIONS)[number];

/** The parts of a turn's latency, in order. Their sum is the latency. */
export const LATENCY_PARTS = [
  'silence',
  'endpointing',
  'recognition',
  'waiting',
  'model',
  'tools',
  'voice',
  'transport',
] as const;
export type LatencyPart = (typeof LATENCY_PARTS)[number];
export type LatencyParts = Readonly<Record<LatencyPart, number>>;

/** Tokens of one language model. */
export interface ModelUsage {
  /** As its server calls it. */
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Work of one speech engine, with one model of its service; all counts are integers. */
export interface EngineUsage {
  /** Its name, as in TTS_ENGINES and STT_ENGINES. */
  readonly engine: string;
  /** As its service calls it; null: the engine has but one. */
  readonly model: string | null;
  readonly characters: number;
  /** Speech that it made, in ms. */
  readonly spokenMs: number;
  readonly recognisedMs: number;
}

/** A call's usage of its engines; all counts are integers. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Whether some tokens were counted here because the language model did not report them. */
  readonly tokensEstimated: boolean;
  /** The same tokens by the model that answered, in the order of their first answers; absent in rows of earlier releases. */
  readonly models?: readonly ModelUsage[];
  /** Characters synthesised. */
  readonly characters: number;
  /** Audio transcribed, in ms, without partial transcripts. */
  readonly recognisedMs: number;
  /** Characters and audio by the engines that spoke and heard, in the order in which they began; absent in rows of earlier releases. */
  readonly engines?: readonly EngineUsage[];
}

export const NO_USAGE: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  tokensEstimated: false,
  characters: 0,
  recognisedMs: 0,
};

/** The rows of both lists, those of one key added up. */
function merged<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  added: (one: Row, other: Row) => Row,
): readonly Row[] {
  const sums = new Map<string, Row>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    sums.set(keyOf(row), sum ? added(sum, row) : row);
  }
  return [...sums.values()];
}

const addModels = (rows: readonly ModelUsage[]): readonly ModelUsage[] =>
  merged(
    rows,
    ({ model }) => model,
    (one, other) => ({
      model: one.model,
      inputTokens: one.inputTokens + other.inputTokens,
      outputTokens: one.outputTokens + other.outputTokens,
    }),
  );

const addEngines = (rows: readonly EngineUsage[]): readonly EngineUsage[] =>
  merged(
    rows,
    ({ engine, model }) => `${engine}\n${model ?? ''}`,
    (one, other) => ({
      engine: one.engine,
      model: one.model,
      characters: one.characters + other.characters,
      spokenMs: one.spokenMs + other.spokenMs,
      recognisedMs: one.recognisedMs + other.recognisedMs,
    }),
  );

export const addUsage = (one: Usage, other: Usage): Usage => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  tokensEstimated: one.tokensEstimated || other.tokensEstimated,
  ...((one.models || other.models) && {
    models: addModels([...(one.models ?? []), ...(other.models ?? [])]),
  }),
  characters: one.characters + other.characters,
  recognisedMs: one.recognisedMs + other.recognisedMs,
  ...((one.engines || other.engines) && {
    engines: addEngines([...(one.engines ?? []), ...(other.engines ?? [])]),
  }),
});

export const usageOf = (turns: readonly Pick<Turn, 'usage'>[]): Usage =>
  turns.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE);

export interface ModelRequest {
  readonly askedMs: number;
  /** Null if it gave none. */
  readonly firstTokenMs: number | null;
  readonly endedMs: number | null;
  /** Why its answer is incomplete; absent in rows of earlier releases. */
  readonly cut?: AnswerCut | null;
}

/** Why the model's answer is incomplete; null if it is not. */
export const cutOf = ({
  requests,
}: {
  readonly requests: readonly Pick<ModelRequest, 'cut'>[];
}): AnswerCut | null => requests.findLast(({ cut }) => cut)?.cut ?? null;

/** How a passage was found: sources as they are, words, meaning, or words and meaning. */
export const FOUND_BY = ['whole', 'words', 'meaning', 'both'] as const;
export type FoundBy = (typeof FOUND_BY)[number];

/** A passage that the model was told for a turn. */
export interface ToldPassage {
  readonly sourceId: string;
  readonly source: string;
  readonly by: FoundBy;
}

export interface TurnTool {
  readonly callId: string;
  readonly toolName: string;
  readonly startedMs: number;
  /** Null while it runs, or if its end is unknown. */
  readonly endedMs: number | null;
  readonly failed: boolean;
}

export interface Turn {
  /** Counts the rows of a session, from 1. */
  readonly number: number;
  /** The turn id of its items. */
  readonly turnId: number;
  readonly cause: TurnCause;
  /** The end of the user's voice; for causes other than `turn`, the time of the cause. */
  readonly at: Date;
  /** The user's words; empty if the agent spoke on its own initiative. */
  readonly words: string;
  /** The language of the call, of an agent that hears several; absent in rows of earlier releases. */
  readonly language?: string | null;
  /** Why the turn counted as ended; null if that was not decided by a silence. */
  readonly endOfTurn: {
    readonly detector: string;
    /** Null if the detector gives none. */
    readonly probability: number | null;
    readonly completeness: string;
    readonly delayMs: number;
  } | null;
  /** How often the user continued it after it had seemed to have ended. */
  readonly reopened: number;
  readonly firstTranscriptMs: number | null;
  readonly lastTranscriptMs: number | null;
  /** When its end was decided; 0 for other causes. */
  readonly decidedMs: number | null;
  readonly requests: readonly ModelRequest[];
  readonly tools: readonly TurnTool[];
  /** Passages of the agent's knowledge that its model was told, best first; absent in rows of earlier releases. */
  readonly passages?: readonly ToldPassage[];
  readonly firstAudioMs: number | null;
  /** When the first audio left for the user: the turn's latency. */
  readonly playedMs: number | null;
  readonly parts: LatencyParts | null;
  /** When the answer ended, for any reason. */
  readonly endedMs: number | null;
  /** How much of the answer was heard, and whether that was all of it. */
  readonly heardMs: number;
  readonly complete: boolean;
  /** How often the agent paused in it for a sound of the user, and how often it resumed at the same frame. */
  readonly held: number;
  readonly resumed: number;
  readonly interrupted: {
    readonly by: InterruptedBy;
    /** From the user's voice, or message, to the agent's silence; null if nothing was audible. */
    readonly silenceMs: number | null;
    /** Whether it proved to be nothing, and the agent was asked to continue. */
    readonly mistaken: boolean;
  } | null;
  /** Whether the answer was drafted before the turn had ended; and the number of drafts discarded before it. */
  readonly drafted: boolean;
  readonly draftsDiscarded: number;
  /** Why it could not be answered: a code of contracts/errors.ts. */
  readonly error: string | null;
  readonly usage: Usage;
}
