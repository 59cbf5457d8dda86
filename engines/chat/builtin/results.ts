/** A tool's result in words: unchanged names and values, few enough to listen to. */
const MOST_FACTS = 4;
const MOST_LENGTH = 300;

const spelled = (name: string): string =>
  name
    .replace(/[_-]+/gu, ' ')
    .replace(/([a-z])([A-Z])/gu, '$1 $2')
    .toLowerCase();

function* factsIn(value: unknown, name = ''): Generator<string> {
  if (value === null || value === undefined || value === '') return;
  if (typeof value !== 'object') {
    yield name === '' ? String(value) : `${spelled(name)}: ${String(value)}`;
    return;
  }
  for (const [key, item] of Object.entries(value)) yield* factsIn(item, Array.isArray(value) ? name : key);
}

function parsed(output: string): unknown {
  try {
    return JSON.parse(output) as unknown;
  } catch {
    return output;
  }
}

export function inWords(output: string): string {
  const facts: string[] = [];
  for (const fact of factsIn(parsed(output))) if (facts.push(fact) === MOST_FACTS) break;
  if (facts.length === 0) return 'It is done.';
  return `${facts.join(', ').slice(0, MOST_LENGTH)}.`;
}
