/** Upload of a recording, answered by its transcript. */
import type { Client, Verdict } from './client.js';
import { type HttpAnswer, HttpClient, refusalOf } from './http.js';

export interface TranscriptionParams {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The field of the file, and what else the form holds. */
  readonly field: string;
  readonly fields: Readonly<Record<string, string>>;
  /** A WAV file. */
  readonly audio: Buffer;
  /** Seconds of it. */
  readonly duration: number;
  readonly spoken: string;
  /** Word error rate above which a transcript is wrong: 0 where the engine is exact. */
  readonly mostErrors: number;
}

const BOUNDARY = 'bench-boundary-7f3a';

/** A multipart form of one WAV file. */
export function formOf({
  field,
  fields,
  audio,
}: Pick<TranscriptionParams, 'field' | 'fields' | 'audio'>): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${field}"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  return Buffer.concat([Buffer.from(parts.join('') + file), audio, Buffer.from(`\r\n--${BOUNDARY}--\r\n`)]);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

/** Words that have to be changed, left out or put in, over the words that were spoken. */
export function wordErrorRate(spoken: string, heard: string): number {
  const [wanted, found] = [wordsOf(spoken), wordsOf(heard)];
  let row = found.map((_, index) => index + 1);
  wanted.forEach((word, at) => {
    let [diagonal, left] = [at, at + 1];
    row = row.map((above, index) => {
      left = Math.min(above + 1, left + 1, diagonal + (word === found[index] ? 0 : 1));
      diagonal = above;
      return left;
    });
  });
  const errors = row.at(-1) ?? wanted.length;
  return wanted.length === 0 ? found.length : errors / wanted.length;
}

function textOf(answer: HttpAnswer): string | undefined {
  try {
    const { text } = JSON.parse(answer.body.toString()) as { text?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

export function createTranscription(params: TranscriptionParams): Client {
  const { url, headers, duration, spoken, mostErrors } = params;
  const http = new HttpClient();
  // Buffers come as plain typed arrays from the other process.
  const body = formOf({ ...params, audio: Buffer.from(params.audio) });
  const type = `multipart/form-data; boundary=${BOUNDARY}`;
  const judge = (answer: HttpAnswer, sent: number): Verdict => {
    const refusal = refusalOf(answer);
    if (refusal !== undefined) return { failure: refusal };
    const text = textOf(answer);
    if (text === undefined) return { failure: 'wrong format: no transcript' };
    const wer = wordErrorRate(spoken, text);
    if (wer > mostErrors) return { failure: text === '' ? 'empty transcript' : 'wrong transcript' };
    return { instants: { e2e: answer.end }, values: { wer, rtf: (answer.end - sent) / 1000 / duration } };
  };
  return {
    async perform(_index, signal) {
      const sent = performance.now();
      const answer = await http.send({ url, headers: { ...headers, 'content-type': type }, body }, signal);
      return () => judge(answer, sent);
    },
    close: () => http.close(),
  };
}
