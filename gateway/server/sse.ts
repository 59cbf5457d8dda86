/** Server-sent events (WHATWG HTML section 9.2): their format, and the headers of a stream of them. */
export interface ServerSentEvent {
  readonly event?: string;
  readonly id?: string;
  /** A string is sent unchanged, line by line; anything else as JSON. */
  readonly data: unknown;
}

export const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // Keeps nginx and its relatives from buffering the stream.
  'x-accel-buffering': 'no',
} as const;

const LINE_END = /\r\n|\r|\n/;
const oneLine = (text: string): string => text.split(LINE_END).join(' ');

export function formatEvent({ event, id, data }: ServerSentEvent): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const lines = LINE_END.test(text) ? text.split(LINE_END) : [text];
  const name = event === undefined ? '' : `event: ${oneLine(event)}\n`;
  const mark = id === undefined ? '' : `id: ${oneLine(id)}\n`;
  return `${name}${mark}${lines.map((line) => `data: ${line}\n`).join('')}\n`;
}
