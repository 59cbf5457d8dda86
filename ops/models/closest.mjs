/** The known name that a mistyped one probably means. */

const MOST_DISTANCE = 3;
const MOST_NAMES = 3;

/** Letters that are added, left out or changed. */
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + Number(one[i - 1] !== other[j - 1])));
    row = next;
  }
  return row.at(-1);
}

/** The nearest names first, and those that hold the word. */
export function closest(name, known) {
  const word = name.toLowerCase();
  return known
    .map((one) => ({ one, far: one.includes(word) && word ? 0 : distance(word, one) }))
    .filter(({ far }) => far <= MOST_DISTANCE)
    .sort((a, b) => a.far - b.far)
    .slice(0, MOST_NAMES)
    .map(({ one }) => one);
}
