/**
 * Encoded audio of remote services, which is passed on to clients as it is. Its beginning shows whether it is what they were promised:
 * a service that gives another codec, rate or bitrate than its setting says fails before a client has a byte.
 */
import type { OutputFormat } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';

/** Most bytes before the first frame: a tag may hold a picture. */
const MOST_HEAD_BYTES = 256 * 1024;

/** `true`: it begins so; `undefined`: more bytes are needed to know. */
type Begins = (head: Buffer, output: OutputFormat) => boolean | undefined;

/** Of frames of MPEG-1, layer 3, by the bits of their head: Hz, and kbit/s. */
const MP3_RATES = [44_100, 48_000, 32_000];
const MP3_KBPS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

/** Bytes of an ID3v2 tag with its head, whose length has seven bits a byte; 0 if there is none. */
function tagBytes(head: Buffer): number {
  if (head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const [a = 0, b = 0, c = 0, d = 0] = head.subarray(6, 10);
  return 10 + ((a << 21) | (b << 14) | (c << 7) | d);
}

const mp3: Begins = (head, { sampleRate, mp3Bitrate }) => {
  if (head.length < 10) return undefined;
  const frame = head.subarray(tagBytes(head));
  if (frame.length < 4) return undefined;
  const [sync = 0, kind = 0, bits = 0] = frame;
  const isFrame = sync === 0xff && (kind & 0xfe) === 0xfa;
  return isFrame && MP3_RATES[(bits >> 2) & 3] === sampleRate && MP3_KBPS[bits >> 4] === mp3Bitrate;
};

/** The first page of an Ogg stream holds Opus' head alone. */
const OGG_PAGE_BYTES = 28;

const opus: Begins = (head) => {
  if (head.length < OGG_PAGE_BYTES + 8) return undefined;
  const [page, packet] = [head.toString('latin1', 0, 4), head.toString('latin1', OGG_PAGE_BYTES, 36)];
  return page === 'OggS' && packet === 'OpusHead';
};

const BEGINS: Readonly<Partial<Record<OutputFormat['format'], Begins>>> = { mp3, opus };

const failed = (message: string): ServiceError => new ServiceError('provider_failed', { message });

const named = ({ format, sampleRate, mp3Bitrate }: OutputFormat): string =>
  `${format} at ${sampleRate} Hz${mp3Bitrate === undefined ? '' : ` and ${mp3Bitrate} kbit/s`}`;

const another = (output: OutputFormat): ServiceError =>
  failed(`The speech provider did not answer ${named(output)}`);

/** Whether the head is complete, and as promised. Errors: `provider_failed` if it is not as promised. */
function isRead(head: Buffer, output: OutputFormat, ended: boolean): boolean {
  const begins = BEGINS[output.format]?.(head, output);
  if (begins === false || (begins === undefined && (ended || head.length > MOST_HEAD_BYTES)))
    throw another(output);
  return begins === true;
}

/** Passes the parts on once they have begun as promised. Errors: `provider_failed`, also for more than `LIMITS.remote.passedBytes`. */
export async function* asPromised(
  parts: AsyncIterable<Uint8Array>,
  output: OutputFormat,
): AsyncGenerator<Uint8Array> {
  let head: Buffer | undefined = Buffer.alloc(0);
  let bytes = 0;
  for await (const part of parts) {
    bytes += part.length;
    if (bytes > LIMITS.remote.passedBytes) throw failed('The speech provider answered too much audio');
    if (!head) {
      yield part;
      continue;
    }
    head = Buffer.concat([head, part]);
    if (!isRead(head, output, false)) continue;
    yield head;
    head = undefined;
  }
  if (head?.length) isRead(head, output, true);
}
