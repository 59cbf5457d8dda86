/** Which letters are heard for each other, and what it costs to take one for another. */

/** Letters of the same class are often heard for each other. */
const CLASSES = ['bpfvw', 'dt', 'gkcqx', 'szjy', 'mn', 'lr', 'aeiou'];
const CLASS_OF = new Map(
  CLASSES.flatMap((letters, at) => [...letters].map((letter) => [letter, at] as const)),
);

const ALIKE = 0.5;
const OTHER = 1.1;

/** The price of taking a letter for another: none for the same, half for one of its class. */
export function exchange(one: string, other: string): number {
  if (one === other) return 0;
  const kind = CLASS_OF.get(one);
  return kind !== undefined && kind === CLASS_OF.get(other) ? ALIKE : OTHER;
}
