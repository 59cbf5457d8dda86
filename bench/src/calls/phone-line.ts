/**
 * A caller on a telephone: a provider's side of a call as Twilio documents it, from the signed webhook to the media stream
 * (https://www.twilio.com/docs/voice/media-streams/websocket-messages).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { MULAW } from '../audio/line-audio.js';
import { Line } from './line.js';

/** A number that an agent answers. */
export interface Dialled {
  readonly answerUrl: string;
  readonly number: string;
  /** Signs the webhooks of this number. */
  readonly secret: string;
}

const FORMAT = { encoding: 'audio/x-mulaw', sampleRate: MULAW.rate, channels: 1 };

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

export class PhoneLine extends Line {
  readonly #socket: WebSocket;
  #count = 0;

  private constructor(
    private readonly callSid: string,
    url: string,
  ) {
    super(MULAW);
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

  #send(message: object): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  protected speak(frame: Buffer): void {
    this.#count += 1;
    const payload = frame.toString('base64');
    this.#send({ event: 'media', media: { track: 'inbound', chunk: String(this.#count), payload } });
  }

  #take({ event, media, mark }: Message): void {
    if (event === 'media') this.heard.take(Buffer.from(media?.payload ?? '', 'base64'), performance.now());
    // Told as if it were played at once: no figure depends on when.
    if (event === 'mark') this.#send({ event: 'mark', mark: { name: mark?.name } });
    if (event === 'clear') this.drop();
  }

  hangUp(): void {
    this.#send({ event: 'stop', stop: { callSid: this.callSid } });
    this.#socket.close();
  }
}
