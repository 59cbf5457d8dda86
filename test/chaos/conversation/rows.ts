/** What must be heard, recorded and logged of each fault: a call for each row. */
import type { Answered, ModelMessage } from '../../fixtures/chat/model.js';
import { toolSaid } from '../../fixtures/chat/model.js';
import { LATER } from './doubles/mcp.js';
import { ORDER } from './doubles/model.js';

/** What a caller says, and what must be heard then, in this order: the last of it is the answer, or what stands for it. */
export interface Ask {
  readonly says: string;
  readonly heard: readonly RegExp[];
  /** What the caller does once the tool has been called. */
  readonly meanwhile?: 'talks' | 'interrupts';
}

export interface Row {
  /** That of its fault, with what else matters. */
  readonly name: string;
  readonly fault: string;
  /** It has a second model. */
  readonly second?: boolean;
  /** A voice and a recogniser are alone in it. */
  readonly language?: 'de';
  readonly tools?: 'webhook' | 'mcp';
  /** Seconds that the tool may take. */
  readonly timeout?: number;
  /** It is heard and spoken by the gateway's own engines; remote ones are behind them. */
  readonly own?: boolean;
  /** It looks answers up. */
  readonly knowledge?: boolean;
  /** Typed lines before the fault, so that there is something to forget. */
  readonly long?: boolean;
  /** The fault is there from the beginning of the call. */
  readonly fromStart?: boolean;
  /** The fault is mended so long after the caller's words, in seconds. */
  readonly mendedAfter?: number;
  /** It hurts everybody, so that no other call runs. */
  readonly apart?: boolean;
  /** It is part of the short form. */
  readonly short?: boolean;
  readonly asks: readonly Ask[];
  readonly says: (messages: readonly ModelMessage[]) => Answered;
  /** How the call ends by itself. */
  readonly ended?: string;
  /** The error in the row of a turn. */
  readonly error?: string;
  /** Why an answer is marked as incomplete. */
  readonly cut?: string;
  /** How often something was ordered. */
  readonly orders?: number;
  /** What the line in the log says besides its part. */
  readonly logged: RegExp;
}

const FILLER = /One moment|Einen Moment/;
const EXCUSE = /could not answer|nicht beantworten/;
const NOT_UNDERSTOOD = /did not get that|nicht verstanden/;
const APOLOGY = /call again later|später noch einmal/;
const ANSWER = /open until six/;
const ORDERED = /is ordered/;
const MAYBE = /may have been ordered/;
const NOT_ORDERED = /not work/;

const OPEN = 'When is it open today?';
const PLEASE = 'Please order it for me.';

const answers = (): Answered => 'It is open until six.';

/** Orders until it is told what came of it. */
function orders(messages: readonly ModelMessage[]): Answered {
  const told = toolSaid(messages) ?? messages.map(({ content }) => content ?? '').join(' ');
  if (told.includes('may have happened')) return 'It may have been ordered.';
  if (told.includes('"error"')) return 'That did not work.';
  return told.includes('ordered') ? 'It is ordered.' : { calls: { [ORDER]: {} } };
}

/** The same, with words before it. */
function seesAndOrders(messages: readonly ModelMessage[]): Answered {
  const what = orders(messages);
  return typeof what === 'object' ? { ...what, text: 'Let me see.' } : what;
}

/** Uses the tool that its server offers since a while, and the one of before until then. */
const delivers = (messages: readonly ModelMessage[]): Answered =>
  toolSaid(messages) === undefined ? { calls: { [LATER]: {} } } : orders(messages);

const one = (...heard: readonly RegExp[]): readonly Ask[] => [{ says: OPEN, heard }];
const order = (...heard: readonly RegExp[]): readonly Ask[] => [{ says: PLEASE, heard }];
const orderAnd = (meanwhile: Ask['meanwhile'], ...heard: readonly RegExp[]): readonly Ask[] =>
  order(...heard).map((ask) => ({ ...ask, ...(meanwhile && { meanwhile }) }));
const thrice = (excuse: RegExp): readonly Ask[] =>
  [excuse, excuse, APOLOGY].map((heard) => ({ says: OPEN, heard: [heard] }));

const ORDERING = { tools: 'webhook', says: orders, orders: 1 } as const;
const FAILED = { error: 'provider_failed', logged: /provider_failed/ } as const;
const LATE = { error: 'first_byte_timeout', logged: /first_byte_timeout/ } as const;

type Short = Omit<Row, 'name' | 'says'> & Partial<Pick<Row, 'name' | 'says'>>;
const row = ({ name, says = answers, ...rest }: Short): Row => ({
  name: name ?? rest.fault,
  says,
  ...rest,
});

const MODEL: readonly Short[] = [
  { fault: 'model refuses connections', apart: true, asks: one(EXCUSE), ...FAILED },
  { fault: 'model closes connections', asks: one(EXCUSE), ...FAILED },
  { fault: 'model refuses the key', asks: one(EXCUSE), ...FAILED },
  { fault: 'model answers 500', asks: one(EXCUSE), ...FAILED, short: true },
  { fault: 'model hangs', asks: one(FILLER, FILLER, EXCUSE), ...LATE },
  { fault: 'model stalls in mid-sentence', asks: one(ANSWER, EXCUSE), ...LATE },
  { fault: 'model thinks for ever', asks: one(FILLER, FILLER, EXCUSE), ...LATE },
  { fault: 'model sends blank lines', asks: one(FILLER, FILLER, EXCUSE), ...LATE },
  { fault: 'model writes tools as text', ...ORDERING, asks: order(ORDERED), logged: /text/ },
  { fault: 'model outgrows its window', long: true, asks: one(ANSWER), logged: /window|long/ },
  { fault: 'model answers nothing', asks: one(EXCUSE), ...FAILED },
  { fault: 'model is cut by length', asks: one(ANSWER), cut: 'length', logged: /length/ },
  {
    fault: 'model is cut by a content filter',
    asks: one(ANSWER),
    cut: 'content_filter',
    logged: /content_filter/,
  },
  { fault: 'model ends without an end', asks: one(ANSWER), cut: 'unfinished', logged: /unfinished/ },
  {
    name: 'model answers 500, three times',
    ...{ fault: 'model answers 500', asks: thrice(EXCUSE), ended: 'llm_endpoint_failure' },
    ...FAILED,
  },
];

/** With a second model. */
const TWO_MODELS: readonly Short[] = [
  { fault: 'model refuses connections', apart: true, asks: one(ANSWER), logged: /provider_failed/ },
  { fault: 'model refuses the key', asks: one(ANSWER), logged: /provider_failed/ },
  { fault: 'model answers 500', asks: one(ANSWER), logged: /provider_failed/ },
  { fault: 'model hangs', asks: one(FILLER, ANSWER), logged: /first_byte_timeout/ },
  { fault: 'model thinks for ever', asks: one(FILLER, ANSWER), logged: /first_byte_timeout/ },
  { fault: 'model answers nothing', asks: one(ANSWER), logged: /provider_failed/ },
].map((each: Short): Short => ({ ...each, name: `${each.fault}, with a second one`, second: true }));

/** Faults of a voice or a recogniser, each with another engine beside it. */
const SPEECH = [
  { what: 'closes connections', logged: /provider_failed/ },
  { what: 'refuses the key', logged: /provider_failed/ },
  { what: 'answers 500', logged: /provider_failed/ },
  { what: 'hangs', logged: /first_byte_timeout/ },
  { what: 'answers nothing', logged: /failed/ },
  { what: 'stops in the middle', logged: /timeout|failed/ },
  { what: 'breaks off in the middle', logged: /failed/ },
] as const;

const VOICE: readonly Short[] = [
  ...SPEECH.map(({ what, logged }) => ({ fault: `voice ${what}`, asks: one(ANSWER), logged })),
  {
    name: 'voice answers 500 from the start',
    fault: 'voice answers 500',
    fromStart: true,
    asks: one(ANSWER),
    logged: /failed/,
    short: true,
  },
  {
    name: 'only voice answers 500',
    fault: 'voice answers 500',
    language: 'de',
    asks: one(EXCUSE),
    ...FAILED,
  },
  {
    name: 'only voice hangs',
    fault: 'voice hangs',
    language: 'de',
    asks: one(FILLER, FILLER, EXCUSE),
    ...LATE,
  },
  {
    name: 'only voice stops in the middle',
    fault: 'voice stops in the middle',
    language: 'de',
    asks: one(EXCUSE),
    logged: /voice/,
  },
  {
    name: 'only voice answers 500, three times',
    ...{ fault: 'voice answers 500', language: 'de', asks: thrice(EXCUSE), ended: 'speech_failure' },
    ...FAILED,
  },
];

const RECOGNISER: readonly Short[] = [
  ...SPEECH.map(({ what, logged }) => ({ fault: `recogniser ${what}`, asks: one(ANSWER), logged })),
  {
    name: 'only recogniser answers 500',
    fault: 'recogniser answers 500',
    language: 'de',
    asks: one(NOT_UNDERSTOOD),
    ...FAILED,
    short: true,
  },
  {
    name: 'only recogniser hangs',
    fault: 'recogniser hangs',
    language: 'de',
    asks: one(FILLER, NOT_UNDERSTOOD),
    ...LATE,
  },
  {
    name: 'only recogniser answers 500, three times',
    ...{
      fault: 'recogniser answers 500',
      language: 'de',
      asks: thrice(NOT_UNDERSTOOD),
      ended: 'speech_failure',
    },
    ...FAILED,
  },
];

const TOOL: readonly Short[] = [
  { fault: 'tool closes connections', asks: order(MAYBE), logged: /tool/ },
  { fault: 'tool hangs', timeout: 8, asks: order(FILLER, FILLER, MAYBE), logged: /tool/ },
  {
    name: 'tool hangs behind some words',
    ...{ fault: 'tool hangs', timeout: 8, says: seesAndOrders },
    ...{ asks: order(/Let me see/, FILLER, MAYBE), logged: /tool/ },
  },
  { fault: 'tool answers 500', asks: order(NOT_ORDERED), logged: /tool/ },
  { fault: 'tool answers megabytes', asks: order(ORDERED), logged: /tool/ },
  {
    name: 'tool is slow while the caller talks',
    fault: 'tool is slow',
    asks: orderAnd('talks', ORDERED),
    logged: /./,
  },
  {
    name: 'tool is slow while the caller interrupts',
    fault: 'tool is slow',
    asks: orderAnd('interrupts', ORDERED),
    logged: /./,
    short: true,
  },
].map((each: Omit<Short, 'tools'>): Short => ({ ...ORDERING, ...each }));

const MCP: readonly Short[] = [
  { fault: 'mcp is started again', asks: order(ORDERED), logged: /./, short: true },
  { fault: 'mcp changes its tools', asks: order(ORDERED), says: delivers, logged: /./ },
  { fault: 'mcp has a dead stream', asks: order(ORDERED), logged: /./ },
  { fault: 'mcp has a lost stream', timeout: 8, asks: order(FILLER, MAYBE), logged: /./ },
  { fault: 'mcp answers 500', asks: order(NOT_ORDERED), orders: 0, logged: /./ },
  { fault: 'mcp hangs', timeout: 8, asks: order(FILLER, MAYBE), orders: 0, logged: /./ },
].map((each: Short): Short => ({ ...ORDERING, ...each, tools: 'mcp' }));

const DATABASE: readonly Short[] = [
  {
    name: 'database is away for 20 s',
    fault: 'database is away',
    apart: true,
    knowledge: true,
    mendedAfter: 20,
    asks: one(ANSWER),
    logged: /database/,
  },
];

/** The gateway's own processes, one after the other, as they are everybody's. */
const PROCESSES: readonly Short[] = [
  { fault: 'process that speaks is frozen', asks: one(ANSWER), logged: /./ },
  { fault: 'process that speaks dies', asks: one(ANSWER), logged: /./ },
  { fault: 'process that recognises is frozen', asks: one(ANSWER), logged: /recogniser/ },
  { fault: 'process that recognises dies', asks: one(ANSWER), logged: /./ },
  { fault: 'media process dies', asks: [], ended: 'transport_lost', logged: /media/ },
].map((each: Short): Short => ({ ...each, own: true }));

export const ROWS: readonly Row[] = [
  ...[...MODEL, ...TWO_MODELS, ...VOICE, ...RECOGNISER, ...TOOL, ...MCP, ...DATABASE, ...PROCESSES].map(row),
];
