/**
 * A caller on a telephone: a provider's side of a call as Twilio documents it, from the signed webhook to the media stream
 * (https://www.twilio.com/docs/voice/media-streams/websocket-messages).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { PhonePlayer } from './phone-player.js';

/** A number that an agent answers. */
export interface Dialled {
  readonly answerUrl: string;
  readonly number: string;
  /** Signs the webhooks of this number. */
  readonly secret: string;
}

/** µ-law at 8 kHz. */
export const RATE = 8000;
const FRAME = 160;
const SILENCE = Buffer.alloc(FRAME, 0xff);
const FORMAT = { encoding: 'audio/x-mulaw', sampleRate: RATE, channels: 1 };

interface Message {
  readonly event: string;
  readonly media?: { readonly payload: string };
  readonly mark?: { readonly name: string };
}

/** Asks the webhook who answers, and returns the address of the media stream. Throws Error if nobody does. */
async function ask({ answerUrl, number, secret }: Dialled, callSid: string) {
  const fields: Record<string, string> = { CallSid: callSid, From: '+14155550123', To: number };
  const signed = Object.keys(fields)
    .sort()
    .map((name) => name + fields[name])
    .join('');
  const signature = createHmac('sha1', secret)
    .update(answerUrl + signed)
    .digest('base64');
  const answer = await fetch(answerUrl, {
    method: 'POST',
    headers: { 'x-twilio-signature': signature },
    body: new URLSearchParams(fields),
  });
  const document = await answer.text();
  const url = /<Stream url="([^"]+)"/.exec(document)?.[1];
  const token = /name="token" value="([^"]+)"/.exec(document)?.[1];
  if (url === undefined || token === undefined) throw new Error(`not answered: HTTP ${answer.status}`);
  return { url, token };
}

export class PhoneLine {
  readonly heard = new PhonePlayer();
  /** When the gateway had the sound dropped that was not played yet, and since when nothing was; undefined where it has not. */
  cleared: { readonly at: number; readonly silent: number } | undefined;
  readonly #socket: WebSocket;
  readonly #queue: Buffer[] = [];
  #count = 0;

  private constructor(
    private readonly callSid: string,
    url: string,
  ) {
    this.#socket = new WebSocket(url, { perMessageDeflate: false });
    this.#socket.on('message', (data: Buffer) => this.#take(JSON.parse(data.toString()) as Message));
    this.#socket.on('error', () => undefined);
  }

  /** Resolves when the stream has started. Rejects where nobody answers. */
  static async dial(dialled: Dialled): Promise<PhoneLine> {
    const callSid = `CA${randomBytes(16).toString('hex')}`;
    const { url, token } = await ask(dialled, callSid);
    const line = new PhoneLine(callSid, url);
    await once(line.#socket, 'open');
    const start = { callSid, mediaFormat: FORMAT, customParameters: { token } };
    line.#send({ event: 'start', streamSid: callSid, start });
    return line;
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  #send(message: object): void {
    if (this.isOpen) this.#socket.send(JSON.stringify(message));
  }

  /** 20 ms of what is to be said, else of silence. */
  sendFrame(): void {
    this.#count += 1;
    const payload = (this.#queue.shift() ?? SILENCE).toString('base64');
    this.#send({ event: 'media', media: { track: 'inbound', chunk: String(this.#count), payload } });
  }

  /** Has it said, in µ-law; begins with the next frame. */
  say(mulaw: Buffer): void {
    for (let at = 0; at < mulaw.length; at += FRAME) {
      const frame = Buffer.from(SILENCE);
      mulaw.copy(frame, 0, at, at + FRAME);
      this.#queue.push(frame);
    }
  }

  get isSpeaking(): boolean {
    return this.#queue.length > 0;
  }

  #take({ event, media, mark }: Message): void {
    const at = performance.now();
    if (event === 'media') this.heard.take(Buffer.from(media?.payload ?? '', 'base64'), at);
    // Told as if it were played at once: no figure depends on when.
    if (event === 'mark') this.#send({ event: 'mark', mark: { name: mark?.name } });
    if (event === 'clear') this.cleared ??= { at, silent: this.heard.clear(at) };
  }

  hangUp(): void {
    this.#send({ event: 'stop', stop: { callSid: this.callSid } });
    this.#socket.close();
  }
}
