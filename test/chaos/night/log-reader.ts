/** The lines of a gateway's log, with their own times. */

export interface LogLine {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly msg: string;
  /** 40 and more: warnings and errors. */
  readonly level: number;
  /** The whole line. */
  readonly text: string;
}

interface Fields {
  readonly time: number | string;
  readonly msg: string;
  readonly level?: number;
}

const isLine = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && 'time' in value && 'msg' in value;

function lineOf(text: string): LogLine | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (!isLine(value)) return undefined;
    const { msg, level = 0 } = value;
    return { msg, level, text, time: Number(new Date(value.time)) };
  } catch {
    return undefined;
  }
}

const lastLineOf = (whole: string): string => whole.slice(whole.lastIndexOf('\n', whole.length - 2) + 1);

export class LogReader {
  /** The last line that was read. No two are alike, as each has its time. */
  #last = '';

  /** `source`: the log so far, which may have lost its beginning. */
  constructor(private readonly source: () => string) {}

  /** The whole lines that came since the last time. */
  fresh(): readonly LogLine[] {
    const text = this.source();
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    const at = this.#last === '' ? -1 : whole.lastIndexOf(this.#last);
    const fresh = at < 0 ? whole : whole.slice(at + this.#last.length);
    if (fresh !== '') this.#last = lastLineOf(whole);
    return fresh.split('\n').flatMap((line) => lineOf(line) ?? []);
  }
}
