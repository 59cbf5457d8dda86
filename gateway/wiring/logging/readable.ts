/** A line of the log as people read it on a terminal: `12:00:01.123 WARN  The database … is away  part=database address=…`. */
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';

const RESET = '\u001b[0m';
const DIM = '\u001b[2m';

/** Name and colour of a level, by pino's number. */
const LEVELS: Readonly<Record<number, readonly [name: string, colour: string]>> = {
  10: ['TRACE', DIM],
  20: ['DEBUG', DIM],
  30: ['INFO', '\u001b[32m'],
  40: ['WARN', '\u001b[33m'],
  50: ['ERROR', '\u001b[31m'],
  60: ['FATAL', '\u001b[31m'],
};

/** Fields that stand elsewhere in the line. */
const PLACED = new Set(['level', 'time', 'msg', 'err']);

// oxlint-disable-next-line no-control-regex -- what could move the cursor of a terminal
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Nothing that a client has sent moves the terminal's cursor or changes its colours. */
const harmless = (text: string): string => text.replaceAll(CONTROL, '?');

const oneLine = (text: string): string => harmless(text).replaceAll('\n', ' ');

function objectIn(json: string): PlainObject | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isPlainObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const two = (value: number, digits = 2): string => String(value).padStart(digits, '0');

function timeOf(time: unknown): string {
  const at = new Date(typeof time === 'number' ? time : NaN);
  const clock = [at.getHours(), at.getMinutes(), at.getSeconds()].map((each) => two(each)).join(':');
  return `${clock}.${two(at.getMilliseconds(), 3)}`;
}

const valueOf = (value: unknown): string =>
  typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);

const fieldsOf = (line: PlainObject): string =>
  Object.entries(line)
    .filter(([name, value]) => !PLACED.has(name) && value !== null)
    .map(([name, value]) => `${name}=${valueOf(value)}`)
    .join(' ');

/** An error: its message with the line, its stack below. */
function errorOf(err: unknown): readonly [inline: string, below: string] {
  if (!isPlainObject(err)) return [err === undefined ? '' : valueOf(err), ''];
  const [, ...frames] = String(err['stack'] ?? '').split('\n');
  return [`${String(err['type'])}: ${String(err['message'])}`, frames.map((frame) => `\n${frame}`).join('')];
}

/** Returns what makes a line readable; lines that are none of the log's stay as they are. */
export function readable(isColoured: boolean): (line: string) => string {
  const paint = (colour: string, text: string): string =>
    isColoured && text !== '' ? `${colour}${text}${RESET}` : text;
  return (json) => {
    const line = objectIn(json);
    if (line === undefined) return json;
    const [name, colour] = LEVELS[Number(line['level'])] ?? ['', ''];
    const [inline, below] = errorOf(line['err']);
    const parts = [
      `${paint(DIM, timeOf(line['time']))} ${paint(colour, name.padEnd(5))} ${oneLine(String(line['msg'] ?? ''))}`,
      oneLine(inline),
      paint(DIM, oneLine(fieldsOf(line))),
    ];
    return `${parts.filter((part) => part !== '').join('  ')}${paint(DIM, harmless(below))}\n`;
  };
}
