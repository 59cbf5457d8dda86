/**
 * Reads multipart/form-data with @fastify/busboy, from a streamed body into bounded memory (LIMITS.http). Parts may
 * come in any order. Anything over a limit is refused, never truncated; a body that ends early is malformed.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { mustCharge } from '../../../contracts/ports/accounts/memory.js';
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import { mostBytesOf } from './arriving-bytes.js';
import { ArrivingFile, type BodyStorage } from './arriving-file.js';
import { expectMediaType } from './body.js';
import type { HttpRequest } from '../port.js';

export interface UploadedFile<Content = Uint8Array> {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: Content;
}

export interface Form<Content = Uint8Array> {
  /** All values of each field, in order. */
  readonly fields: ReadonlyMap<string, readonly string[]>;
  /** The last file of each name. */
  readonly files: ReadonlyMap<string, UploadedFile<Content>>;
  /** All files of each name, in order. */
  readonly everyFile: ReadonlyMap<string, readonly UploadedFile<Content>[]>;
}

export interface FormLimits {
  /** Most bytes of the whole body. */
  readonly bodyBytes: number;
  /** Most bytes of each file; over it `audio_too_large`. */
  readonly fileBytes: number;
  /** Most files; default 4. */
  readonly files?: number;
  /** Most fields; default LIMITS.http.multipartFields. */
  readonly fields?: number;
  /** A field whose parts are files, even without a filename and a type. */
  readonly fileField?: string;
}

/** Parts of these types are files, even without a filename, which RFC 7578 section 4.2 only recommends. */
const BINARY = /^(audio|video)\/|^application\/octet-stream/i;
const FIELD_NAME_LENGTH = 200;
const PART_HEADER_BYTES = 16 * 1024;
/**
 * Bytes that the parser is given at once. A part that it skips (no form-data, or without a disposition) makes it wait
 * forever if a stream's default buffer, 16 KiB or more, is filled by the same write as the part's head.
 */
const SLICE_BYTES = 8 * 1024;

const malformed = (message: string, cause?: unknown): ServiceError =>
  new ServiceError('malformed_body', { message, cause });

function createParser(
  contentType: string,
  { fileBytes, files = 4, fields = LIMITS.http.multipartFields, fileField }: FormLimits,
): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      isPartAFile: (name, type, filename) =>
        filename !== undefined || BINARY.test(type ?? '') || (name !== undefined && name === fileField),
      limits: {
        fields,
        fieldSize: LIMITS.http.multipartFieldBytes,
        files,
        fileSize: fileBytes,
        parts: fields + files,
        headerPairs: LIMITS.http.multipartHeaderPairs,
        headerSize: PART_HEADER_BYTES,
      },
    });
  } catch (cause) {
    throw malformed('The multipart body has no boundary', cause);
  }
}

type Kept = Uint8Array | StoredFile;

type Incoming = Pick<HttpRequest, 'headers' | 'body'> & BodyStorage;

/** Parses one form. The first failure ends it. */
class FormParser {
  readonly fields = new Map<string, string[]>();
  readonly files = new Map<string, UploadedFile<Kept>>();
  readonly everyFile = new Map<string, UploadedFile<Kept>[]>();
  /** The file that arrives: parts come one after the other. */
  #arriving: ArrivingFile | undefined;
  #fieldBytes = 0;
  /** Resolves when every file that has ended is stored. */
  #stored: Promise<void> = Promise.resolve();
  readonly #parser: BusboyInstance;
  readonly #mostBytes: number;
  #failure: Error | undefined;
  #finished = false;
  #wake: (() => void) | undefined;

  constructor(
    private readonly request: Incoming,
    limits: FormLimits,
  ) {
    const { headers } = request;
    this.#mostBytes = Math.min(mostBytesOf(headers, limits.bodyBytes), limits.fileBytes);
    this.#parser = createParser(headers.get('content-type') ?? '', limits)
      .on('field', (name, value, nameTruncated, valueTruncated) => {
        if (nameTruncated || valueTruncated) this.#fail(tooLarge(name));
        else this.#addField(name, value);
      })
      .on('file', (name, stream, filename, _encoding, contentType) =>
        this.#collect(name, stream, { filename, contentType }),
      )
      .on('partsLimit', () => this.#fail(malformed('The form has too many parts')))
      .on('fieldsLimit', () => this.#fail(malformed('The form has too many fields')))
      .on('filesLimit', () => this.#fail(malformed('The form has too many files')))
      .on('error', (error) => this.#fail(malformed('The multipart body is malformed', error)))
      .on('drain', () => this.#notify())
      .on('finish', () => {
        this.#finished = true;
        this.#notify();
      });
  }

  async feed(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; at += SLICE_BYTES) {
      if (!this.#parser.write(chunk.subarray(at, at + SLICE_BYTES))) await this.#event();
      if (this.#failure) throw this.#failure;
      await this.#arriving?.room();
      // Nothing else waits while headers and fields are parsed.
      if (isTurnOver()) await nextTurn();
    }
  }

  async end(): Promise<Form<Kept>> {
    this.#parser.end();
    while (!this.#finished && !this.#failure) await this.#event();
    if (this.#failure) throw this.#failure;
    await this.#stored;
    return { fields: this.fields, files: this.files, everyFile: this.everyFile };
  }

  /** Ends the parser; a form that was not read to its end is forgotten at once. */
  stop(): void {
    this.#parser.destroy();
    this.#arriving?.clear();
  }

  #addField(name: string | undefined, value: string): void {
    if (!isName(name)) return this.#fail(malformed('A form field has no usable name'));
    this.#fieldBytes += value.length;
    if (this.#fieldBytes > LIMITS.http.multipartFieldsBytes) return this.#fail(tooLarge(name));
    if (!this.#charge(value.length)) return;
    const values = this.fields.get(name);
    if (values) values.push(value);
    else this.fields.set(name, [value]);
  }

  #addFile(name: string, file: UploadedFile<Kept>): void {
    this.files.set(name, file);
    const all = this.everyFile.get(name);
    if (all) all.push(file);
    else this.everyFile.set(name, [file]);
  }

  #collect(
    name: string | undefined,
    stream: BusboyFileStream,
    about: Pick<UploadedFile, 'filename' | 'contentType'>,
  ): void {
    const file = new ArrivingFile(this.request, this.#mostBytes);
    this.#arriving = file;
    stream.on('error', (error) => this.#fail(malformed('A file ends early', error)));
    stream.on('limit', () =>
      this.#fail(new ServiceError('audio_too_large', isName(name) ? { param: name } : {})),
    );
    stream.on('data', (chunk: Buffer) => {
      if (!this.#failure) this.#attempt(() => file.add(chunk));
    });
    stream.on('end', () => {
      if (!isName(name)) return this.#fail(malformed('A file has no usable name'));
      this.#arriving = undefined;
      const before = this.#stored;
      this.#stored = before.then(async () =>
        this.#addFile(name, { ...about, filename: about.filename ?? '', bytes: await file.finish() }),
      );
      this.#stored.catch((error: unknown) => this.#fail(error as Error));
    });
  }

  #attempt(task: () => void): void {
    try {
      task();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #charge(bytes: number): boolean {
    this.#attempt(() => mustCharge(this.request.share('body'), bytes));
    return this.#failure === undefined;
  }

  #event(): Promise<void> {
    if (this.#failure) return Promise.resolve();
    return new Promise((resolve) => (this.#wake = resolve));
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#notify();
  }
}

const isName = (name: string | undefined): name is string =>
  typeof name === 'string' && name !== '' && name.length <= FIELD_NAME_LENGTH;

const tooLarge = (name: string | undefined): ServiceError =>
  new ServiceError(
    'payload_too_large',
    isName(name) ? { message: `Field ${name} is too large`, param: name } : {},
  );

/**
 * Reads the whole form. Errors: `unsupported_media_type`, `malformed_body`, `payload_too_large` (body or
 * field), `audio_too_large` (file), `request_timeout`, `memory_exhausted`, `storage_full`. Large files are on disk.
 */
export async function readSpooledMultipart(request: Incoming, limits: FormLimits): Promise<Form<Kept>> {
  expectMediaType(request.headers, (type) => type === 'multipart/form-data');
  const parser = new FormParser(request, limits);
  try {
    for await (const chunk of request.body(limits.bodyBytes)) await parser.feed(chunk);
    return await parser.end();
  } finally {
    parser.stop();
  }
}

/** As `readSpooledMultipart`, for files that are small, or needed in memory: they stay there. */
export async function readMultipart(request: Omit<Incoming, 'store'>, limits: FormLimits): Promise<Form> {
  const { headers } = request;
  const inMemory: Incoming = {
    headers,
    body: (limitBytes) => request.body(limitBytes),
    share: (kind) => request.share(kind),
    store: () => undefined,
  };
  // Without a spool every file is bytes.
  return (await readSpooledMultipart(inMemory, limits)) as Form;
}
