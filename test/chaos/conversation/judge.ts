/** Judges a call: what was heard and when, what was ordered, what record and log say. */
import type { Asked, CallMade } from './call.js';
import { faultOf } from './faults.js';
import { names, wantedLine } from './logged.js';

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
  /** The longest silences until the answer: after the caller's voice, and after an utterance of the agent. */
  readonly firstMs: number;
  readonly gapMs: number;
  readonly texts: readonly string[];
  readonly missing: readonly RegExp[];
}

interface Sound {
  readonly from: number;
  readonly to: number;
  readonly by: 'caller' | 'agent';
}

/** The patterns that are not found in the texts one after the other, and in which text the last of them was. */
function missingIn(
  texts: readonly string[],
  patterns: readonly RegExp[],
): readonly [readonly RegExp[], number] {
  const left = [...patterns];
  for (const [index, text] of texts.entries()) {
    for (let rest = text; left[0]; left.shift()) {
      const found = left[0].exec(rest);
      if (!found) break;
      rest = rest.slice(found.index + found[0].length);
    }
    if (left.length === 0) return [[], index];
  }
  return [left, texts.length];
}

/** What was heard for one question, until its answer. Where a sentence cannot be read from the audio, what was shown counts. */
function heardOf({ ask, spoken, heard, shown }: Asked): Heard {
  const asked = spoken[0]!.to;
  const behind = heard.filter(({ to }) => to > asked);
  const [missing, last] = missingIn(
    behind.map(({ text }) => text),
    ask.heard,
  );
  const awaited = behind.slice(0, last + 1);
  const until = awaited.at(-1)?.from ?? Infinity;
  const sounds: Sound[] = [
    ...spoken.filter(({ from }) => from <= until).map((sound) => ({ ...sound, by: 'caller' as const })),
    ...awaited.map((sound) => ({ ...sound, by: 'agent' as const })),
  ].sort((one, other) => one.from - other.from);
  const gaps = sounds
    .slice(1)
    .map(({ from }, index) => ({ by: sounds[index]!.by, ms: from - sounds[index]!.to }));
  const longest = (by: Sound['by']): number =>
    Math.max(0, ...gaps.filter((gap) => gap.by === by).map(({ ms }) => ms));
  return {
    firstMs: awaited.length === 0 ? Infinity : longest('caller'),
    gapMs: longest('agent'),
    texts: awaited.map(({ text }) => text || '…'),
    missing: missing.length === 0 ? [] : missingIn([shown], ask.heard)[0],
  };
}

/** Whoever has told the agent to be silent waits for nothing. */
const isAwaited = ({ meanwhile }: Asked['ask']): boolean => meanwhile !== 'interrupts';

/** Silences that are too long. */
const silencesIn = ({ ask }: Asked, { firstMs, gapMs }: Heard): string[] =>
  isAwaited(ask)
    ? [
        ...(firstMs > FIRST_MS ? [`"${ask.says}": heard nothing for ${seconds(firstMs)}`] : []),
        ...(gapMs > GAP_MS ? [`"${ask.says}": silence of ${seconds(gapMs)}`] : []),
      ]
    : [];

const unheardIn = ({ ask, vain }: Asked, { texts, missing }: Heard): string[] => [
  ...missing.map(
    (pattern) => `"${ask.says}": ${pattern} was not heard, but ${texts.join(' | ') || 'nothing'}`,
  ),
  ...(vain === undefined || missing.length > 0 ? [] : [vain]),
];

/** Faults in what was ordered, recorded and logged. */
function faultsOf({ row, record, lines, orders }: CallMade): string[] {
  const { ended_reason: ended, turns } = record;
  const fault = faultOf(row.fault);
  const rows = turns as unknown as readonly { error: string | null; answer_cut?: string | null }[];
  const intents = new Set(orders).size;
  const line = wantedLine(lines, row);
  return [
    ...(row.ended !== undefined && ended !== row.ended ? [`ended_reason ${String(ended)}`] : []),
    ...(row.error !== undefined && !rows.some(({ error }) => error === row.error)
      ? [`no turn has the error ${row.error}`]
      : []),
    ...(row.cut !== undefined && !rows.some(({ answer_cut: cut }) => cut === row.cut)
      ? [`no turn is marked ${row.cut}`]
      : []),
    ...(intents === (row.orders ?? 0) ? [] : [`ordered ${intents} times`]),
    ...(line ? [] : [`no line of the log names the ${fault.part}`]),
  ];
}

/** `timed`: whether seconds are judged as well, on a machine that does nothing else. */
export function judge(made: CallMade, timed: boolean): Verdict {
  const { row, asked, record, lines, orders } = made;
  const heard = asked.map((each) => [each, heardOf(each)] as const);
  const faults = [
    ...heard.flatMap(([each, what]) => [...(timed ? silencesIn(each, what) : []), ...unheardIn(each, what)]),
    ...row.asks.slice(asked.length).map(({ says }) => `"${says}" was not asked: the call had ended`),
    ...faultsOf(made),
  ];
  const fault = faultOf(row.fault);
  const logged = lines.filter((each) => names(each, fault)).map((each) => String(each['msg']));
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
  return { name: row.name, figures: figures.join('; '), faults };
}
