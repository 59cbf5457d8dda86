/** Splits a child's output into lines; a line that is too long is cut, so that no child fills our memory. */
import type { Readable } from 'node:stream';

const LONGEST = 16 * 1024;

/** Calls `take` with each line of UTF-8 text, without its line break. Empty lines are left out. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST);
    for (const line of lines) if (line !== '') take(line.slice(0, LONGEST));
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => undefined);
}
