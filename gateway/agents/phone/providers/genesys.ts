/**
 * Genesys Cloud: the Audio Connector, which speaks AudioHook (protocol 2). Its stream opens without a webhook before; the
 * handshake is signed by HTTP message signatures (HMAC-SHA256). Both sides number their messages; audio is µ-law in binary
 * frames. Ours goes in messages of 200 ms, as Genesys limits their number. Genesys does not report what it has played.
 * https://developer.genesys.cloud/devapps/audiohook
 * https://github.com/purecloudlabs/audiohook-reference-implementation
 * https://datatracker.ietf.org/doc/html/rfc9421
 */
import { createHmac } from 'node:crypto';
import { isPlainObject, type PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { LineFormat } from '../../../../contracts/ports/calls/calls.js';
import {
  countIn,
  jsonMessage,
  objectIn,
  onceForEach,
  type Speaking,
  type StreamEvent,
  StreamFault,
  type StreamProvider,
  type StreamWriter,
  textIn,
  type Webhook,
} from '../provider.js';
import { isSame, isTimely } from '../signatures.js';

/** Components that a signature must cover. */
const COVERED = [
  ...['@request-target', '@authority', 'x-api-key'],
  ...['audiohook-organization-id', 'audiohook-session-id', 'audiohook-correlation-id'],
];

/** `Signature-Input` with one signature, and its parts (RFC 9421, 4.1). */
const INPUT = /^([a-z*][\w.*-]*)=(\(((?:"[^"\\]*" ?)*)\)((?:;[a-z]+=(?:"[^"\\]*"|\d{1,15}))+))$/;

interface SignatureInput {
  readonly label: string;
  /** The text that was signed. */
  readonly text: string;
  readonly covered: readonly string[];
  readonly parameters: ReadonlyMap<string, string>;
}

function inputOf(header: string): SignatureInput | undefined {
  const [, label, text, covered = '', parameters = ''] = INPUT.exec(header) ?? [];
  if (label === undefined || text === undefined) return undefined;
  const pairs = [...parameters.matchAll(/;([a-z]+)=(?:"([^"]*)"|(\d+))/g)];
  return {
    label,
    text,
    covered: [...covered.matchAll(/"([^"]*)"/g)].map(([, name = '']) => name),
    parameters: new Map(pairs.map(([, name = '', quoted, count = '']) => [name, quoted ?? count])),
  };
}

/** The value of a covered component. */
function valueOf(name: string, { url, headers }: Webhook): string | undefined {
  const { host, pathname, search } = new URL(url);
  if (name === '@request-target') return pathname + search;
  return name === '@authority' ? host : headers.get(name)?.trim();
}

const isCurrent = ({ parameters }: SignatureInput, now: number): boolean =>
  isTimely(Number(parameters.get('created') ?? NaN), now) &&
  now <= Number(parameters.get('expires') ?? Infinity) * 1000;

/** Least bytes of a key: a secret that is no base64 decodes to none, and anybody could sign with it. */
const LEAST_KEY = 16;

/** Most components that a signature may cover: a header can be named again and again, and each time costs its length. */
const MOST_COVERED = 32;

/** What was signed, unless something that it must cover is missing. */
const signedOf = onceForEach((handshake) => {
  const { headers } = handshake;
  const input = inputOf(headers.get('signature-input') ?? '');
  if (!input?.parameters.get('nonce') || input.covered.length > MOST_COVERED) return undefined;
  const { text, covered, parameters } = input;
  if (COVERED.some((name) => !covered.includes(name))) return undefined;
  if (parameters.get('keyid') !== headers.get('x-api-key')) return undefined;
  const lines = covered.map((name) => `"${name}": ${valueOf(name, handshake) ?? ''}`);
  return { input, text: [...lines, `"@signature-params": ${text}`].join('\n') };
});

/** The client secret is shown in base64. */
function isSigned(handshake: Webhook, secret: string, now: number): boolean {
  const signed = signedOf(handshake);
  const key = Buffer.from(secret, 'base64');
  if (!signed || !isCurrent(signed.input, now) || key.length < LEAST_KEY) return false;
  const signature = createHmac('sha256', key).update(signed.text).digest('base64');
  return isSame(handshake.headers.get('signature') ?? '', `${signed.input.label}=:${signature}:`);
}

const FORMAT: LineFormat = { codec: 'mulaw', rate: 8000, frames: 10, silent: true };
/** The audio of the other side of the call. */
const MEDIA = { type: 'audio', format: 'PCMU', channels: ['external'], rate: 8000 };

const isOurs = (offer: unknown): boolean =>
  isPlainObject(offer) &&
  offer['type'] === MEDIA.type &&
  offer['format'] === MEDIA.format &&
  offer['rate'] === MEDIA.rate &&
  JSON.stringify(offer['channels']) === JSON.stringify(MEDIA.channels);

/** Conversation id of the probe that Genesys sends when an integration is switched on. */
const PROBE = '00000000-0000-0000-0000-000000000000';

const NOT_ALLOWED = 1008;

class AudioHook implements Speaking {
  #id: string | undefined;
  /** Number of messages of each side. */
  #sent = 0;
  #received = 0;
  #probe = false;

  constructor(
    private readonly send: (message: string) => void,
    private readonly headers: ReadonlyMap<string, string>,
  ) {}

  read(message: string | Uint8Array): StreamEvent | undefined {
    if (typeof message !== 'string') return { type: 'media', audio: message };
    const fields = jsonMessage(message);
    this.#count(fields);
    const type = textIn(fields, 'type');
    return Object.hasOwn(this.#events, type)
      ? this.#events[type]?.(objectIn(fields, 'parameters'))
      : undefined;
  }

  /** Errors: `StreamFault` for messages of another protocol or session, and if messages are missing or repeated. */
  #count(fields: PlainObject): void {
    if (fields['version'] !== '2')
      throw new StreamFault(1003, 'the version of the protocol is not supported');
    this.#id ??= textIn(fields, 'id');
    if (this.#id === '' || fields['id'] !== this.#id || this.#id !== this.headers.get('audiohook-session-id'))
      throw new StreamFault(NOT_ALLOWED, 'a message is of another session');
    const answers = countIn(fields, 'serverseq') ?? 0;
    if (countIn(fields, 'seq') !== this.#received + 1 || answers > this.#sent)
      throw new StreamFault(NOT_ALLOWED, 'a message is out of order');
    this.#received += 1;
  }

  readonly #events: Readonly<Record<string, (parameters: PlainObject) => StreamEvent | undefined>> = {
    open: (parameters) => this.#open(parameters),
    close: () => this.#close(),
    ping: () => void this.send(this.#message('pong', {})),
    dtmf: ({ digit }) => ({ type: 'key', key: String(digit) }),
  };

  #open(parameters: PlainObject): StreamEvent | undefined {
    const { media } = parameters;
    if (parameters['organizationId'] !== this.headers.get('audiohook-organization-id'))
      throw new StreamFault(NOT_ALLOWED, 'a message is of another organization');
    this.#probe = parameters['conversationId'] === PROBE;
    if (this.#probe) return void this.send(this.#opened());
    const { ani, dnis } = objectIn(parameters, 'participant');
    return {
      type: 'start',
      stream: '',
      callId: this.#id ?? '',
      about: { from: numberOf(ani), to: numberOf(dnis) },
      format: Array.isArray(media) && media.some(isOurs) ? FORMAT : undefined,
    };
  }

  #close(): StreamEvent | undefined {
    this.send(this.#message('closed', {}));
    return this.#probe ? undefined : { type: 'stop' };
  }

  #opened(): string {
    return this.#message('opened', { startPaused: false, media: [MEDIA] });
  }

  #message(type: string, parameters: object): string {
    const counted = { seq: (this.#sent += 1), clientseq: this.#received };
    return JSON.stringify({ version: '2', type, ...counted, id: this.#id, parameters });
  }

  writer(): StreamWriter {
    return {
      begin: () => this.#opened(),
      speak: (audio) => audio,
      clearAudio: () => this.#message('event', { entities: [{ type: 'barge_in', data: {} }] }),
    };
  }

  end(reason: string, info: string): string {
    return this.#message('disconnect', { reason, info });
  }
}

/** Numbers come as `tel:` addresses and with hyphens. */
const numberOf = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/^tel:/, '').replace(/(?<=\d)-(?=\d)/g, '') : '';

export const genesys: StreamProvider = {
  name: 'genesys',
  isSigned,
  converse: (send, headers) => new AudioHook(send, headers),
};
