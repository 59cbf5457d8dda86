/**
 * Speech by a socket while its text is still being written: the words of a clause, then the word that completes it.
 * `ttfa` counts from that word, which the server could not have spoken before.
 */
import { decode, encode } from '@msgpack/msgpack';
import { once } from 'node:events';
import { type RawData, WebSocket } from 'ws';
import type { Expected } from '../audio/answer.js';
import type { Client, Verdict } from './client.js';
import { SpeechJudge } from './speech-judge.js';

export interface SpeechSocketParams {
  /** A row of PROTOCOLS. */
  readonly protocol: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The last one completes what can be spoken. */
  readonly words: readonly string[];
  readonly expected: Expected;
}

/** The meaning of a frame: audio, the end, or a failure in a few words. */
interface Heard {
  readonly audio?: Uint8Array;
  readonly isEnd?: boolean;
  readonly failure?: string;
}

type Frame = string | Uint8Array;

interface Protocol {
  begin(expected: Expected): Frame[];
  text(words: string): Frame;
  /** Nothing more will be written: what there is is to be spoken. */
  end(): Frame;
  hear(data: Buffer): Heard;
}

interface LiveEvent {
  readonly event: string;
  readonly audio?: Uint8Array;
  readonly reason?: string;
}

const live: Protocol = {
  begin: ({ format, rate }) => [
    encode({ event: 'start', request: { text: '', format, sample_rate: rate, latency: 'low' } }),
  ],
  text: (text) => encode({ event: 'text', text }),
  end: () => encode({ event: 'stop' }),
  hear(data) {
    const { event, audio, reason } = decode(data) as LiveEvent;
    if (event === 'finish')
      return reason === 'stop' ? { isEnd: true } : { failure: 'finished with an error' };
    return audio === undefined ? {} : { audio };
  },
};

interface StreamMessage {
  readonly audio?: string | null;
  readonly isFinal?: boolean | null;
  readonly message?: string;
}

const streamInput: Protocol = {
  begin: () => [JSON.stringify({ text: ' ' })],
  text: (text) => JSON.stringify({ text, try_trigger_generation: true }),
  end: () => JSON.stringify({ text: '' }),
  hear(data) {
    const { audio, isFinal, message } = JSON.parse(data.toString()) as StreamMessage;
    if (message !== undefined) return { failure: 'an error message' };
    if (isFinal === true) return { isEnd: true };
    return typeof audio === 'string' ? { audio: Buffer.from(audio, 'base64') } : {};
  },
};

const PROTOCOLS: Readonly<Record<string, Protocol>> = { live, 'stream-input': streamInput };

const bufferOf = (data: RawData): Buffer => (Buffer.isBuffer(data) ? data : Buffer.concat(data as Buffer[]));

/** One socket from its opening to the end of its audio. */
class Dialogue {
  readonly timeline: [number, number][] = [];
  readonly #chunks: Uint8Array[] = [];
  #total = 0;
  readonly ended: Promise<string | undefined>;

  constructor(
    private readonly socket: WebSocket,
    private readonly protocol: Protocol,
  ) {
    this.ended = new Promise((resolve) => {
      socket.on('message', (data) => {
        const { audio, isEnd, failure } = this.protocol.hear(bufferOf(data));
        if (audio !== undefined && audio.length > 0) this.#take(audio);
        if (failure !== undefined || isEnd) resolve(failure);
      });
      socket
        .on('close', () => resolve('closed before its end'))
        .on('error', () => resolve('closed before its end'));
    });
  }

  send(...frames: Frame[]): void {
    for (const frame of frames) this.socket.send(frame);
  }

  get body(): Buffer {
    return Buffer.concat(this.#chunks);
  }

  #take(audio: Uint8Array): void {
    this.#total += audio.length;
    // The frame's memory is used again.
    this.#chunks.push(Buffer.from(audio));
    this.timeline.push([performance.now(), this.#total]);
  }
}

/** `ttfa` from the word that completes the clause. */
function fromText(verdict: Verdict, completed: number): Verdict {
  if ('failure' in verdict) return verdict;
  const { ttfa = Number.NaN, ...instants } = verdict.instants;
  return { instants, values: { ...verdict.values, ttfa: ttfa - completed } };
}

export function createSpeechSocket({
  protocol: name,
  url,
  headers,
  words,
  expected,
}: SpeechSocketParams): Client {
  const protocol = PROTOCOLS[name];
  if (protocol === undefined) throw new Error(`no protocol is called ${name}`);
  const judge = new SpeechJudge(expected);
  return {
    async perform(_index, signal) {
      const sent = performance.now();
      const socket = new WebSocket(url, { headers, perMessageDeflate: false });
      const leave = (): void => socket.terminate();
      signal.addEventListener('abort', leave);
      try {
        await once(socket, 'open');
        const dialogue = new Dialogue(socket, protocol);
        dialogue.send(...protocol.begin(expected), ...words.slice(0, -1).map((word) => protocol.text(word)));
        const completed = performance.now();
        dialogue.send(protocol.text(words.at(-1) ?? ''), protocol.end());
        const failure = await dialogue.ended;
        const end = performance.now();
        if (failure !== undefined) return () => ({ failure: signal.aborted ? 'no answer in time' : failure });
        const verdict = judge.later(dialogue.timeline, dialogue.body, end, sent);
        return () => fromText(verdict(), completed);
      } finally {
        signal.removeEventListener('abort', leave);
        socket.terminate();
      }
    },
    close: async () => {},
  };
}
