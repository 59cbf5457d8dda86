/**
 * Who spoke when in a call by voice, as the caller heard it, and what follows from that. Moments are milliseconds since the
 * caller's media was connected.
 */

/** Something that the caller said. */
export interface CallerTurn {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** It was said into an answer of the agent's. */
  readonly interrupts: boolean;
  /** It wants no answer: agreement of somebody who listens. */
  readonly backchannel: boolean;
  /** The caller has waited for an answer as long as it does, in vain. */
  readonly unanswered: boolean;
}

/** A stretch of the agent's voice: no pause in it is as long as SPELL_GAP_MS. */
export interface Spell {
  readonly from: number;
  readonly to: number;
}

/** A shorter silence is a pause between two words, or sentences. */
export const SPELL_GAP_MS = 600;
/** Who begins so soon behind the other could not know: both began. */
const AT_ONCE_MS = 300;

export interface Measured {
  /** Of each turn that was answered, from the caller's last sound to the agent's first: negative where that came before. */
  readonly answers: readonly number[];
  /** Of each interruption, from its first sound to the agent's last. */
  readonly silences: readonly number[];
  /** Interruptions after which the agent did not fall silent before the caller had finished and been answered. */
  readonly unheeded: number;
  /** The longest time in which both spoke. */
  readonly talkOver: number;
  /** How often the agent began to speak while the caller did. */
  readonly interrupted: number;
  readonly unanswered: number;
}

const overlap = (one: Spell, other: Spell): number =>
  Math.max(0, Math.min(one.to, other.to) - Math.max(one.from, other.from));

/** The first that begins behind the turn's beginning, before the caller speaks again. */
function answerTo(
  turn: CallerTurn,
  next: CallerTurn | undefined,
  spells: readonly Spell[],
): Spell | undefined {
  return spells.find(
    ({ from, to }) => from > turn.from + AT_ONCE_MS && to > turn.to && from < (next?.from ?? Infinity),
  );
}

/** Until when the agent went on that was speaking as the turn began; undefined where it was not. */
function silenceAfter({ from }: CallerTurn, spells: readonly Spell[]): number | undefined {
  const spoken = spells.find((spell) => spell.from < from && spell.to > from);
  return spoken && spoken.to - from;
}

/** From the two sides of a call. */
export function measured(turns: readonly CallerTurn[], spells: readonly Spell[]): Measured {
  const wanting = turns.filter(({ backchannel }) => !backchannel);
  const interruptions = wanting.filter(({ interrupts }) => interrupts);
  const answers = wanting.flatMap((turn, index) => {
    const answer = answerTo(turn, wanting[index + 1], spells);
    return answer ? [answer.from - turn.to] : [];
  });
  return {
    answers,
    silences: interruptions.flatMap((turn) => silenceAfter(turn, spells) ?? []),
    unheeded: interruptions.filter((turn) =>
      spells.some((spell) => spell.from < turn.from && spell.to > turn.to + SPELL_GAP_MS),
    ).length,
    talkOver: Math.max(0, ...wanting.flatMap((turn) => spells.map((spell) => overlap(turn, spell)))),
    interrupted: wanting.reduce(
      (sum, { from, to }) =>
        sum + spells.filter((spell) => spell.from > from + AT_ONCE_MS && spell.from < to).length,
      0,
    ),
    unanswered: wanting.filter(({ unanswered }) => unanswered).length,
  };
}

/** The middle one; of an even number the upper. */
export const median = (values: readonly number[]): number | undefined =>
  [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];
