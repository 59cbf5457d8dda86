/** Splits a child's output into lines; a line that is too long is cut, so that no child fills our memory. */
import type { Readable } from 'node:stream';

const LONGEST = 16 * 1024;

/** The lines of a piece of output; an indented one goes on what the line before it says, as in a stack. */
function linesOf(pieces: readonly string[]): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    if (piece === '') continue;
    if (lines.length > 0 && /^\s|^\}$/.test(piece)) lines.push(`${lines.pop() ?? ''}\n${piece}`);
    else lines.push(piece);
  }
  return lines;
}

/** Calls `take` with each line of UTF-8 text, without its line break. Empty lines are left out. */
export function eachLine(stream: Readable, take: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(0, LONGEST);
    for (const line of linesOf(lines)) take(line.slice(0, LONGEST));
  });
  stream.on('end', () => {
    if (rest !== '') take(rest);
  });
  stream.on('error', () => undefined);
}
