/** The kinds of trials: what a caller does in a call of each, and what it tells. */
import type { Clip, Trial, TrialHeard, Turn, TurnHeard } from '../../programs/trials.js';
import { wordErrorRate } from '../../clients/transcription.js';
import type { Speaker, TextKind } from '../../speakers/speaker.js';
import {
  byTelephone,
  clipOf,
  crowdOf,
  grouped,
  hum,
  inCrowd,
  paused,
  quieter,
  spokenBy,
  television,
} from './clips.js';
import { isRight, vanishedGroups } from './judging.js';

/** How the double of a model answers: in a word, in a sentence, or for minutes; the last three begin the call with a question. */
export const AGENTS = ['word', 'sentence', 'long', 'asks', 'email', 'name'] as const;
export type AgentName = (typeof AGENTS)[number];

/** What the record of a call says that the caller said. */
export interface Understood {
  readonly text: string;
  /** Messages that the agent took for the caller's. */
  readonly messages: number;
  /** Ms until each answer, as the gateway's record has it. */
  readonly latencies: readonly number[];
  /** Where the time of each answer went, in the same words. */
  readonly answers: readonly string[];
}

/** One thing that a trial tells of a figure: whether it was so, or ms, NaN where it did not come. */
export interface Mark {
  readonly figure: string;
  readonly value: boolean | number;
}

export interface Planned {
  readonly speaker: Speaker;
  readonly agent: AgentName;
  /** What the caller says in it, for people who read the report. */
  readonly said: string;
  readonly trial: Omit<Trial, 'agent'>;
  judge(heard: TrialHeard, understood: Understood): Mark[];
}

/** What a plan is made of: the caller's place among all, their voices, and a text of a kind. */
export interface Casting {
  readonly speaker: Speaker;
  readonly index: number;
  /** The others, beginning behind the caller: only those with statements. */
  readonly others: readonly Speaker[];
  /** The `at`th of so many texts that each caller says; undefined where this one says none of that kind. */
  text(kind: TextKind, at: number, each?: number): string | undefined;
  /** A text of that kind, and a speaker's who may be another. */
  textOf(speaker: Speaker, kind: TextKind, at: number): string;
}

export interface Kind {
  readonly name: string;
  readonly title: string;
  /** Plans of this kind for a caller, who has a call for each. */
  plan(casting: Casting): Promise<readonly Planned[]>;
}

const QUIET: Turn = { quiet: 600 };
/** So long after its answer an agent that heard itself would have answered that. */
const LONG_QUIET: Turn = { quiet: 4000 };
const LISTEN: Turn = { listen: true };

/** Time to the answer; none where the agent spoke too early. */
const answerIn = (turn: TurnHeard | undefined): number =>
  turn === undefined || turn.isTalkedOver ? Number.NaN : (turn.answer ?? Number.NaN);

const isAnswered = (turn: TurnHeard | undefined): boolean => !Number.isNaN(answerIn(turn));

/** A quarter of the words may be wrong. */
const MOST_ERRORS = 0.25;
const isUnderstood = (said: string, { text }: Understood): boolean =>
  wordErrorRate(said, text) <= MOST_ERRORS;

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

/** A kind whose callers say one text in each call, `each` of them. */
function saying(
  kind: TextKind,
  each: number,
  make: (casting: Casting, text: string, at: number) => Promise<Planned>,
): Kind['plan'] {
  return async (casting) => {
    const own = casting.speaker.texts?.[kind]?.length ?? each;
    const count = casting.speaker.saysAll ? own : Math.min(own, each);
    const texts = range(count).flatMap((at) => casting.text(kind, at, count) ?? []);
    return Promise.all(texts.map((text, at) => make(casting, text, at)));
  };
}

const seedOf = ({ index }: Casting, at: number): number => index * 100 + at + 1;

/** Whether a group of digits, or all that was said, left nothing in the record, not even a mark that it was unclear. */
const hasVanished = (kind: TextKind, said: string, understood: string): boolean =>
  kind === 'digits' ? vanishedGroups(said, understood) > 0 : understood.trim() === '';

/** Said once, and read in the record: digits to an agent that has asked nothing, addresses and spelled names to one that has asked for them. */
function understanding(
  kind: 'digits' | 'emails' | 'names',
  each: number,
  title: string,
  clip: (speaker: Speaker, text: string) => Promise<Int16Array>,
  asking?: 'email' | 'name',
): Kind {
  const before: readonly Turn[] = asking === undefined ? [] : [LISTEN, QUIET];
  const plan = saying(kind, each, async (casting, text, at) => ({
    speaker: casting.speaker,
    agent: asking ?? 'word',
    said: text,
    trial: {
      turns: [...before, { say: clipOf(await clip(casting.speaker, text)) }],
      seed: seedOf(casting, at),
    },
    judge: (_, { text: understood }) => [
      { figure: `${kind}.right`, value: isRight(kind, text, understood) },
      { figure: `${kind}.without_trace`, value: hasVanished(kind, text, understood) },
    ],
  }));
  return { name: kind, title, plan };
}

/** How far the gateway's latency of each answer is from what the caller waited; nothing where a turn of one had no answer. */
function latencyErrors(heard: readonly (TurnHeard | undefined)[], latencies: readonly number[]): Mark[] {
  const waited = heard.map(answerIn);
  if (waited.length !== latencies.length || waited.some(Number.isNaN)) return [];
  return waited.map((ms, at) => ({ figure: 'latency.off_by', value: Math.abs(ms - (latencies[at] ?? ms)) }));
}

/** Of each of both: with eight callers enough for a median. */
const SENTENCES_EACH = 3;

/** Questions and statements in turn, as far as the caller says any. */
async function sentences(casting: Casting): Promise<readonly Planned[]> {
  const { speaker } = casting;
  const said = range(SENTENCES_EACH).flatMap((at) =>
    (['questions', 'statements'] as const).flatMap((kind) => {
      const text = casting.text(kind, at, SENTENCES_EACH);
      return text === undefined ? [] : [{ kind, text }];
    }),
  );
  if (said.length === 0) return [];
  const clips = await Promise.all(said.map(async ({ text }) => clipOf(await spokenBy(speaker, text))));
  const turns = clips.flatMap((clip): Turn[] => [{ say: clip }, QUIET]);
  const judge = ({ turns: heard }: TrialHeard, understood: Understood): Mark[] => [
    ...said.map(({ kind }, at) => ({
      figure: kind === 'questions' ? 'question' : 'statement',
      value: answerIn(heard[at * 2]),
    })),
    ...latencyErrors(
      said.map((_, at) => heard[at * 2]),
      understood.latencies,
    ),
    {
      figure: 'sentences.understood',
      value: isUnderstood(said.map(({ text }) => text).join(' '), understood),
    },
  ];
  const trial = { turns: turns.slice(0, -1), seed: seedOf(casting, 0) };
  return [{ speaker, agent: 'word', said: said.map(({ text }) => text).join(' '), trial, judge }];
}

const words = saying('words', 3, async (casting, text, at) => ({
  speaker: casting.speaker,
  agent: 'asks',
  said: text,
  trial: {
    turns: [LISTEN, QUIET, { say: clipOf(await spokenBy(casting.speaker, text)) }],
    seed: seedOf(casting, at),
  },
  judge: ({ turns }, { text: understood }) => [
    { figure: 'words.right', value: isRight('words', text, understood) },
    { figure: 'words', value: answerIn(turns[2]) },
  ],
}));

const PAUSES_MS = [1000, 1200] as const;

const pauses = (ms: number): Kind['plan'] =>
  saying('pauses', 3, async (casting, text, at) => ({
    speaker: casting.speaker,
    agent: 'word',
    said: text,
    trial: {
      turns: [{ say: clipOf(await paused(casting.speaker, text, ms)), isRead: false }],
      seed: seedOf(casting, at),
    },
    judge: ({ turns: [turn] }) =>
      turn === undefined ? [] : [{ figure: `first_pause.${ms}.cut`, value: turn.isTalkedOver ?? false }],
  }));

/** The agent speaks for long; then these turns. Undefined where the caller has no statement to begin with. */
async function whileItSpeaks(
  casting: Casting,
  said: string,
  turns: readonly Turn[],
  judge: (heard: readonly (TurnHeard | undefined)[]) => Mark[],
): Promise<readonly Planned[]> {
  const ask = casting.text('statements', 2);
  if (ask === undefined || turns.length === 0) return [];
  const before: readonly Turn[] = [{ say: clipOf(await spokenBy(casting.speaker, ask)) }, LISTEN];
  return [
    {
      speaker: casting.speaker,
      agent: 'long',
      said: `${ask} | ${said}`,
      trial: { turns: [...before, ...turns], seed: seedOf(casting, 0) },
      judge: ({ turns: heard }) => judge(turns.map((_, at) => heard[before.length + at])),
    },
  ];
}

/** A mark for a turn that was had; none for one that could not be. */
const keptIn = (turn: TurnHeard | undefined, figure: string): Mark[] =>
  turn?.kept === undefined ? [] : [{ figure, value: turn.kept }];

/** A hum and a word in one call, now the one first, now the other: after one that ends the answer the other cannot be tried. */
async function agreement(casting: Casting): Promise<readonly Planned[]> {
  const { speaker, index } = casting;
  const text = casting.text('agreement', 0);
  const tried: { readonly figure: string; readonly said: string; readonly clip: Clip }[] = [];
  if (speaker.pitch > 0) tried.push({ figure: 'hums.kept', said: '(a hum)', clip: clipOf(hum(speaker)) });
  if (text !== undefined)
    tried.push({ figure: 'agreement.kept', said: text, clip: clipOf(await spokenBy(speaker, text)) });
  if (index % 2 === 1) tried.reverse();
  const said = tried.map((each) => each.said).join(' | ');
  const turns = tried.map(({ clip }): Turn => ({ through: clip }));
  return whileItSpeaks(casting, said, turns, (heard) =>
    tried.flatMap(({ figure }, at) => keptIn(heard[at], figure)),
  );
}

const BESIDE_DB = [15, 12, 10] as const;

/** Another voice, or a television with two, so many dB quieter. Each caller has two of the three levels. */
async function beside(casting: Casting): Promise<readonly Planned[]> {
  const { others, index } = casting;
  const voices = await Promise.all(
    others.slice(0, 2).map((other, at) => spokenBy(other, casting.textOf(other, 'statements', index + at))),
  );
  const levels = BESIDE_DB.filter((_, at) => at !== index % BESIDE_DB.length);
  const plans = levels.map((db, at) => {
    const sound = (index + at) % 2 === 0 ? voices[0]! : television(voices);
    const through = clipOf(quieter(sound, -db));
    const said = `(somebody else, ${db} dB quieter)`;
    return whileItSpeaks(casting, said, [{ through }], ([turn]) => keptIn(turn, `beside.${db}db.kept`));
  });
  return (await Promise.all(plans)).flat();
}

const INTERRUPTIONS = ['short', 'long', 'open'] as const;

async function interruptions(casting: Casting): Promise<readonly Planned[]> {
  const plans = INTERRUPTIONS.map(async (way) => {
    const text = casting.text(way, 0);
    if (text === undefined) return [];
    const interrupt = clipOf(await spokenBy(casting.speaker, text));
    return whileItSpeaks(casting, text, [{ interrupt }], ([turn]) =>
      turn === undefined
        ? []
        : [
            { figure: 'interruption', value: turn.answer ?? Number.NaN },
            { figure: `interruption.${way}`, value: turn.answer ?? Number.NaN },
            { figure: 'interruption.silence', value: turn.bargeIn ?? Number.NaN },
          ],
    );
  });
  return (await Promise.all(plans)).flat();
}

const CROWD_VOICES = 5;

/** The room of each caller: five others who talk at once. */
const rooms = new WeakMap<Casting, Promise<Int16Array>>();

function roomOf(casting: Casting): Promise<Int16Array> {
  const voices = casting.others
    .slice(0, CROWD_VOICES)
    .map((other, place) => spokenBy(other, casting.textOf(other, 'statements', place + 3)));
  const room = rooms.get(casting) ?? Promise.all(voices).then(crowdOf);
  rooms.set(casting, room);
  return room;
}

const crowd = (db: number, each: number): Kind['plan'] =>
  saying('statements', each, async (casting, text, at) => {
    const samples = await spokenBy(casting.speaker, text);
    const { clip, room } = inCrowd(samples, await roomOf(casting), -db);
    return {
      speaker: casting.speaker,
      agent: 'word',
      said: text,
      trial: { turns: [{ say: clip }], room, seed: seedOf(casting, at) },
      judge: ({ turns: [turn] }, understood) => [
        { figure: `crowd.${db}db`, value: answerIn(turn) },
        { figure: `crowd.${db}db.unanswered`, value: !isAnswered(turn) },
        { figure: `crowd.${db}db.understood`, value: isUnderstood(text, understood) },
      ],
    };
  });

const ECHO_DB = -20;
/** Every so many callers: the voice that comes back is the agent's. */
const ECHO_EACH = 3;

async function echo(casting: Casting): Promise<readonly Planned[]> {
  const text = casting.text('statements', 0);
  if (text === undefined || casting.index % ECHO_EACH !== 0) return [];
  const say = clipOf(await spokenBy(casting.speaker, text));
  return [
    {
      speaker: casting.speaker,
      agent: 'sentence',
      said: text,
      trial: { turns: [{ say }, LONG_QUIET], echoDb: ECHO_DB, seed: seedOf(casting, 0) },
      judge: (_, { messages }) => [{ figure: 'echo.answers_itself', value: messages > 1 }],
    },
  ];
}

/** Statements that arrive changed: as they are made so, or with packets lost. */
const impaired = (
  figure: string,
  each: number,
  change: (samples: Int16Array) => Int16Array,
  loss?: number,
): Kind['plan'] =>
  saying('statements', each, async (casting, text, at) => ({
    speaker: casting.speaker,
    agent: 'word',
    said: text,
    trial: {
      turns: [{ say: clipOf(change(await spokenBy(casting.speaker, text))) }],
      ...(loss !== undefined && { loss }),
      seed: seedOf(casting, at),
    },
    judge: ({ turns: [turn] }, understood) => [
      { figure: `${figure}.answered`, value: isAnswered(turn) },
      { figure: `${figure}.understood`, value: isUnderstood(text, understood) },
    ],
  }));

const same = (samples: Int16Array): Int16Array => samples;

/** One plan of each, one after the other. */
const both =
  (...plans: readonly Kind['plan'][]): Kind['plan'] =>
  async (casting) =>
    (await Promise.all(plans.map((plan) => plan(casting)))).flat();

/** Of the callers only the first, the third and so on. */
const everyOther =
  (plan: Kind['plan']): Kind['plan'] =>
  async (casting) =>
    casting.index % 2 === 0 ? plan(casting) : [];

export const KINDS: readonly Kind[] = [
  { name: 'sentences', title: 'questions and statements', plan: sentences },
  understanding('digits', 2, 'digits in groups', grouped),
  understanding('emails', 1, 'e-mail addresses', spokenBy, 'email'),
  understanding('names', 1, 'spelled names', spokenBy, 'name'),
  { name: 'words', title: 'one-word answers', plan: words },
  { name: 'pauses', title: 'first pauses of a call', plan: both(...PAUSES_MS.map(pauses)) },
  { name: 'hums', title: 'hums and words of agreement', plan: agreement },
  { name: 'crowd', title: 'others who talk at once', plan: both(crowd(10, 3), crowd(5, 2)) },
  { name: 'beside', title: 'somebody else, or a television', plan: beside },
  { name: 'echo', title: 'a speakerphone', plan: echo },
  { name: 'telephone', title: 'telephone band', plan: impaired('telephone', 1, byTelephone) },
  {
    name: 'loss',
    title: 'lost packets',
    plan: everyOther(both(impaired('loss.3', 1, same, 0.03), impaired('loss.10', 1, same, 0.1))),
  },
  { name: 'interruptions', title: 'interruptions', plan: interruptions },
];
