/**
 * A bucket of S3 or of a compatible server. The library takes region, endpoint and credentials from the standard AWS
 * variables, files and services. It is loaded only if RECORDINGS_URL is set (ops/adr/0030-recordings-in-s3.md).
 */
import { Readable } from 'node:stream';
import type * as S3 from '@aws-sdk/client-s3';
import { errorText } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { notInstalled } from '../../config/installed.js';
import type { ObjectBody, Bucket, BucketObject, BucketPart } from './bucket.js';

/** Optional: most installations keep recordings in a folder. */
const PACKAGES = ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner'];
const CONNECT_MS = 5000;
const MOST_REMOVED = 1000;
const TYPE = 'audio/ogg';
const PLACE = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})\/?(.*)$/;

type Env = Readonly<Record<string, string | undefined>>;

const load = () => Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/s3-request-presigner')]);

/** `s3://bucket/a/b/` → its bucket and `a/b/`. */
function placeOf(url: string): { readonly Bucket: string; readonly prefix: string } {
  const [, Bucket = '', path = ''] = PLACE.exec(url) ?? [];
  const prefix = path.replace(/\/+$/, '');
  return { Bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}

const isGone = (error: unknown): boolean =>
  ['NoSuchKey', 'NotFound', 'NoSuchUpload'].includes((error as Error).name);

const unlessGone = (error: unknown): undefined => {
  if (!isGone(error)) throw error;
};

/** All pages of a list. `marker`: a page's pointer to the next one. */
async function pages<Page, Marker>(
  ask: (marker: Marker | undefined) => Promise<Page>,
  next: (page: Page) => Marker | undefined,
): Promise<readonly Page[]> {
  const all: Page[] = [];
  let marker: Marker | undefined;
  do {
    const page = await ask(marker);
    all.push(page);
    marker = next(page);
  } while (marker !== undefined);
  return all;
}

/** How long answers are waited for (contracts/limits.ts `recording.bucket`). */
export type BucketTimes = Readonly<Record<keyof typeof LIMITS.recording.bucket, number>>;

function settingsOf(env: Env, { answerMs }: BucketTimes): S3.S3ClientConfig {
  const elsewhere = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  return {
    ...(elsewhere && {
      // Self-hosted servers have one host name, and often no region.
      forcePathStyle: true,
      region: env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1',
    }),
    maxAttempts: 2,
    // Not all compatible servers know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: CONNECT_MS, requestTimeout: answerMs, throwOnRequestTimeout: true },
  };
}

const content = ({ bytes, stream }: ObjectBody) => ({ Body: stream(), ContentLength: bytes });

type Library = Awaited<ReturnType<typeof load>>;

class S3Bucket implements Bucket {
  readonly #s3: Library[0];
  readonly #client: S3.S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  /** For what the bucket has to do itself. */
  readonly #patience: { readonly requestTimeout: number };

  constructor(
    readonly url: string,
    env: Env,
    private readonly library: Library,
    private readonly times: BucketTimes,
  ) {
    const { Bucket, prefix } = placeOf(url);
    this.#s3 = library[0];
    this.#client = new this.#s3.S3Client(settingsOf(env, times));
    this.#patience = { requestTimeout: times.workMs };
    this.#bucket = Bucket;
    this.#prefix = prefix;
  }

  close(): void {
    this.#client.destroy();
  }

  #at(key: string) {
    return { Bucket: this.#bucket, Key: this.#prefix + key };
  }

  /** Until the whole body is there and answered. */
  #slow({ bytes }: ObjectBody) {
    const { answerMs, bytesPerSecond } = this.times;
    return { requestTimeout: Math.ceil(answerMs + (bytes / bytesPerSecond) * 1000) };
  }

  #own(key = ''): string {
    return key.slice(this.#prefix.length);
  }

  async put(key: string, body: ObjectBody): Promise<void> {
    const input = { ...this.#at(key), ...content(body), ContentType: TYPE };
    await this.#client.send(new this.#s3.PutObjectCommand(input), this.#slow(body));
  }

  async read(key: string, range: string) {
    const command = new this.#s3.GetObjectCommand({ ...this.#at(key), Range: range });
    const found = await this.#client.send(command).catch(unlessGone);
    if (!found) return undefined;
    const total = Number(/\/(\d+)$/.exec(found.ContentRange ?? '')?.[1] ?? found.ContentLength ?? 0);
    return { total, stream: found.Body as Readable };
  }

  async size(key: string): Promise<number | undefined> {
    const found = await this.#client.send(new this.#s3.HeadObjectCommand(this.#at(key))).catch(unlessGone);
    return found && (found.ContentLength ?? 0);
  }

  async list(start: string): Promise<readonly BucketObject[]> {
    const place = { Bucket: this.#bucket, Prefix: this.#prefix + start };
    const all = await pages(
      (marker?: object) => this.#client.send(new this.#s3.ListObjectsV2Command({ ...place, ...marker })),
      ({ IsTruncated, NextContinuationToken: ContinuationToken }) =>
        IsTruncated ? { ContinuationToken } : undefined,
    );
    return all
      .flatMap(({ Contents = [] }) => Contents)
      .map(({ Key, Size = 0 }) => ({ key: this.#own(Key), bytes: Size }));
  }

  async remove(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += MOST_REMOVED) {
      const Objects = keys.slice(from, from + MOST_REMOVED).map((key) => ({ Key: this.#prefix + key }));
      const input = { Bucket: this.#bucket, Delete: { Objects, Quiet: true } };
      const command = new this.#s3.DeleteObjectsCommand(input);
      const { Errors = [] } = await this.#client.send(command, this.#patience);
      if (Errors[0]) throw new Error(`not removed: ${Errors[0].Code}`);
    }
  }

  async begin(key: string): Promise<string> {
    const command = new this.#s3.CreateMultipartUploadCommand({ ...this.#at(key), ContentType: TYPE });
    return (await this.#client.send(command)).UploadId ?? '';
  }

  async part(key: string, id: string, number: number, body: ObjectBody): Promise<BucketPart> {
    const place = { ...this.#at(key), UploadId: id, PartNumber: number };
    const command = new this.#s3.UploadPartCommand({ ...place, ...content(body) });
    const { ETag = '' } = await this.#client.send(command, this.#slow(body));
    return { number, bytes: body.bytes, etag: ETag };
  }

  async complete(key: string, id: string, parts: readonly BucketPart[]): Promise<void> {
    const Parts = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
    const input = { ...this.#at(key), UploadId: id, MultipartUpload: { Parts } };
    await this.#client.send(new this.#s3.CompleteMultipartUploadCommand(input), this.#patience);
  }

  async abort(key: string, id: string): Promise<void> {
    const command = new this.#s3.AbortMultipartUploadCommand({ ...this.#at(key), UploadId: id });
    await this.#client.send(command).catch(unlessGone);
  }

  async begun(start: string) {
    const place = { Bucket: this.#bucket, Prefix: this.#prefix + start };
    const all = await pages(
      (marker?: object) =>
        this.#client.send(new this.#s3.ListMultipartUploadsCommand({ ...place, ...marker })),
      ({ IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker }) =>
        IsTruncated ? { KeyMarker, UploadIdMarker } : undefined,
    );
    return all
      .flatMap(({ Uploads = [] }) => Uploads)
      .map(({ Key, UploadId = '' }) => ({ key: this.#own(Key), id: UploadId }));
  }

  async parts(key: string, id: string): Promise<readonly BucketPart[]> {
    const place = { ...this.#at(key), UploadId: id };
    const all = await pages(
      (marker?: object) => this.#client.send(new this.#s3.ListPartsCommand({ ...place, ...marker })),
      ({ IsTruncated, NextPartNumberMarker: PartNumberMarker }) =>
        IsTruncated ? { PartNumberMarker } : undefined,
    );
    return all
      .flatMap(({ Parts = [] }) => Parts)
      .map(({ PartNumber = 0, Size = 0, ETag = '' }) => ({ number: PartNumber, bytes: Size, etag: ETag }));
  }

  address(key: string, seconds: number): Promise<string> {
    const command = new this.#s3.GetObjectCommand(this.#at(key));
    return this.library[1].getSignedUrl(this.#client, command, { expiresIn: seconds });
  }
}

/** Errors: an Error if the library is not installed. */
export async function openS3(
  url: string,
  env: Env,
  times: BucketTimes = LIMITS.recording.bucket,
): Promise<Bucket & { close(): void }> {
  const missing = notInstalled(PACKAGES).join(' ');
  if (missing !== '') throw new Error(`RECORDINGS_URL needs packages that are not installed: ${missing}`);
  // Warnings about the Node version that later releases need concern developers, not readers of the log.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  return new S3Bucket(url, env, await load(), times);
}

/** The server's error for an operator: without request addresses, keys or stacks. */
export function bucketError(error: unknown): string {
  const { name, $metadata } = error as { name?: string; $metadata?: { httpStatusCode?: number } };
  const status = $metadata?.httpStatusCode;
  if (status === undefined) return (error as { code?: string }).code ?? errorText(error);
  return `${name ?? 'Error'} (${status})`;
}

/** What to do about errors at the start; the first match is reported. */
const MENDING: readonly (readonly [RegExp, string])[] = [
  [/^(NoSuchBucket|NotFound) |\(404\)/, 'there is no such bucket'],
  [
    /CredentialsProvider|Could not load credentials/,
    'there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give this machine a role',
  ],
  [/Region is missing/, 'set AWS_REGION'],
  [/\(301\)|AuthorizationHeaderMalformed/, 'the bucket is in another region: set AWS_REGION'],
  [/\(4\d\d\)/, 'the credentials are wrong, or may not list, write and delete there'],
];

export interface BucketFault {
  /** Somebody has to mend the configuration; else the bucket is unreachable. */
  readonly fatal: boolean;
  readonly reason: string;
  readonly error: unknown;
}

/**
 * Checks that recordings can be listed, written and deleted. Undefined if they can.
 */
export async function checkBucket(bucket: Bucket): Promise<BucketFault | undefined> {
  const key = '.speech-gateway';
  try {
    await bucket.list(key);
    await bucket.put(key, { bytes: 1, stream: () => Readable.from([Buffer.from('.')]) });
    await bucket.remove([key]);
    return undefined;
  } catch (error) {
    const said = `${(error as Error).name} ${bucketError(error)}`;
    const advice = MENDING.find(([pattern]) => pattern.test(said))?.[1];
    const reason = advice === undefined ? bucketError(error) : `${advice} (${bucketError(error)})`;
    return { fatal: advice !== undefined, reason, error };
  }
}
