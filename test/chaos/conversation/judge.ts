/** Judges a call: what was heard and when, what was ordered, what record and log say. */
import type { Asked, CallMade } from './call.js';
import { faultOf } from './faults.js';

/** From the end of the caller's voice to the first word or filler, and from the end of one to the next. */
const FIRST_MS = 3000;
const GAP_MS = 5000;

export interface Verdict {
  readonly name: string;
  readonly figures: string;
  readonly faults: readonly string[];
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

interface Heard {
  /** After the end of the caller's voice. */
  readonly firstMs: number;
  /** The longest silence until the answer, both sides counted. */
  readonly gapMs: number;
  readonly texts: readonly string[];
  readonly missing: readonly RegExp[];
}

/** What was heard for one question, until its answer. */
function heardOf({ ask, spoken, heard }: Asked): Heard {
  const left = [...ask.heard];
  const until = heard.findIndex(({ text }) => {
    if (left[0]?.test(text)) left.shift();
    return left.length === 0;
  });
  const awaited = until < 0 ? heard : heard.slice(0, until + 1);
  const asked = spoken[0]!.to;
  const first = awaited.find(({ to }) => to > asked);
  const sounds = [...awaited, ...spoken]
    .filter(({ to }) => to >= asked)
    .sort((one, other) => one.from - other.from);
  const gaps = sounds.slice(1).map(({ from }, index) => from - sounds[index]!.to);
  return {
    firstMs: first ? first.from - asked : Infinity,
    gapMs: Math.max(0, ...gaps.slice(1)),
    texts: awaited.map(({ text }) => text || '…'),
    missing: left,
  };
}

const told = (
  { ask }: Asked,
  { firstMs, gapMs, texts, missing }: Heard,
  vain: string | undefined,
): string[] => [
  ...(firstMs > FIRST_MS ? [`"${ask.says}": heard nothing for ${seconds(firstMs)}`] : []),
  ...(gapMs > GAP_MS ? [`"${ask.says}": silence of ${seconds(gapMs)}`] : []),
  ...missing.map(
    (pattern) => `"${ask.says}": ${pattern} was not heard, but ${texts.join(' | ') || 'nothing'}`,
  ),
  ...(vain === undefined || missing.length > 0 ? [] : [vain]),
];

/** Faults in what was ordered, recorded and logged. */
function faultsOf({ row, record, lines, orders }: CallMade): string[] {
  const { ended_reason: ended, turns } = record;
  const { part } = faultOf(row.fault);
  const rows = turns as unknown as readonly { error: string | null; answer_cut?: string | null }[];
  const intents = new Set(orders).size;
  const line = lines.find((each) => each['part'] === part && row.logged.test(JSON.stringify(each)));
  return [
    ...(row.ended !== undefined && ended !== row.ended ? [`ended_reason ${String(ended)}`] : []),
    ...(row.error !== undefined && !rows.some(({ error }) => error === row.error)
      ? [`no turn has the error ${row.error}`]
      : []),
    ...(row.cut !== undefined && !rows.some(({ answer_cut: cut }) => cut === row.cut)
      ? [`no turn is marked ${row.cut}`]
      : []),
    ...(intents === (row.orders ?? 0) ? [] : [`ordered ${intents} times`]),
    ...(line ? [] : [`no line of the log names the ${part}`]),
  ];
}

const isTimed = (fault: string): boolean => !/heard nothing|silence of/.test(fault);

/** `timed`: whether seconds are judged as well, on a machine that does nothing else. */
export function judge(made: CallMade, timed: boolean): Verdict {
  const { row, asked, record, lines, orders } = made;
  const heard = asked.map((each) => [each, heardOf(each)] as const);
  const faults = [
    ...heard.flatMap(([each, what]) => told(each, what, each.vain)),
    ...row.asks.slice(asked.length).map(({ says }) => `"${says}" was not asked: the call had ended`),
    ...faultsOf(made),
  ];
  const { part } = faultOf(row.fault);
  const logged = lines.filter((each) => each['part'] === part).map((each) => String(each['msg']));
  const turns = record.turns as unknown as readonly { error: string | null; answer_cut?: string | null }[];
  const marks = turns.flatMap(({ error, answer_cut: cut }) => [error, cut]).filter((mark) => mark);
  const figures = [
    ...heard.map(
      ([, { firstMs, gapMs, texts }]) =>
        `first ${seconds(firstMs)}, gap ${seconds(gapMs)}: ${texts.join(' | ') || 'nothing'}`,
    ),
    ...(orders.length > 0 ? [`orders ${new Set(orders).size} in ${orders.length} requests`] : []),
    `record: ${record.turns.length} turns, ${marks.join(' ') || 'no marks'}, ${String(record.ended_reason)}`,
    `log: ${logged[0] ?? 'nothing'}${logged.length > 1 ? ` (${logged.length} lines)` : ''}`,
  ];
  return { name: row.name, figures: figures.join('; '), faults: timed ? faults : faults.filter(isTimed) };
}
