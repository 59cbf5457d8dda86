/**
 * Uploads one side of a call from a growing file into a bucket. Parts of a multipart upload have the least size that S3
 * accepts, some twenty minutes of a voice; audio after the last part is stored in small pieces meanwhile. So if a machine
 * dies, only the last seconds are lost, and another machine makes one object of the rest.
 *
 * Invariants: all parts but the last have one size; pieces follow one another without gaps and overlap only with parts;
 * the state is read from the bucket, so that any process can continue where another stopped. After an error, start again
 * with a new instance.
 */
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { LIMITS } from '../../../contracts/limits.js';
import type { ObjectBody, Bucket, BucketPart } from './bucket.js';
import { piecesOfFile } from './folder-store.js';

const { partBytes } = LIMITS.recording;

interface Piece {
  readonly key: string;
  readonly from: number;
  readonly to: number;
}

const OFFSET = /\.(\d{12})$/;
const pieceKey = (key: string, from: number): string => `${key}.${String(from).padStart(12, '0')}`;

export class TrackUpload {
  #id: string | undefined;
  #parts: BucketPart[] = [];
  #pieces: Piece[] = [];
  /** The bucket has the whole object. */
  #done = false;
  /** The bucket's state has been read. */
  #found = false;

  /** `file`: undefined if this machine has none. */
  constructor(
    private readonly bucket: Bucket,
    private readonly key: string,
    private readonly file: string | undefined,
  ) {}

  /**
   * Uploads new audio; `over`: the file does not grow any more, and becomes one object.
   * Resolves when the bucket has it.
   */
  async advance(over: boolean): Promise<void> {
    if (!this.#found) await this.#find();
    const size = await this.#size();
    while (!this.#done && size - this.#kept >= partBytes)
      await this.#addPart(this.#ofFile(this.#kept, this.#kept + partBytes));
    if (!this.#done && over) await this.#finish(size);
    else if (!this.#done && size > this.#sent) await this.#addPiece(size);
    await this.#tidy();
  }

  /** Bytes in parts. */
  get #kept(): number {
    return this.#parts.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Bytes in parts or pieces. */
  get #sent(): number {
    return Math.max(this.#kept, this.#pieces.at(-1)?.to ?? 0);
  }

  async #find(): Promise<void> {
    const { bucket, key } = this;
    const objects = await bucket.list(key);
    this.#done = objects.some((object) => object.key === key);
    this.#pieces = objects.flatMap((object) => {
      const from = Number(OFFSET.exec(object.key)?.[1] ?? NaN);
      return Number.isNaN(from) ? [] : [{ key: object.key, from, to: from + object.bytes }];
    });
    this.#id = (await bucket.begun(key)).find((upload) => upload.key === key)?.id;
    this.#parts = this.#id === undefined ? [] : [...(await bucket.parts(key, this.#id))];
    this.#found = true;
  }

  async #size(): Promise<number> {
    if (this.file === undefined) return 0;
    return stat(this.file).then(
      ({ size }) => size,
      () => 0,
    );
  }

  #ofFile(from: number, to: number): ObjectBody {
    return { bytes: to - from, stream: () => Readable.from(piecesOfFile(this.file ?? '', from, to)) };
  }

  /** The content of the pieces from there on. */
  #ofPieces(from: number): ObjectBody {
    return { bytes: this.#sent - from, stream: () => Readable.from(this.#readPieces(from)) };
  }

  async *#readPieces(start: number): AsyncGenerator<Uint8Array> {
    for (const { key, from, to } of this.#pieces.filter((piece) => piece.to > start)) {
      const range = await this.bucket.read(key, `bytes=${Math.max(0, start - from)}-${to - from - 1}`);
      if (!range) throw new Error('a piece has gone');
      yield* range.stream as AsyncIterable<Buffer>;
    }
  }

  async #addPart(body: ObjectBody): Promise<void> {
    this.#id ??= await this.bucket.begin(this.key);
    this.#parts.push(await this.bucket.part(this.key, this.#id, this.#parts.length + 1, body));
  }

  async #addPiece(to: number): Promise<void> {
    const from = this.#sent;
    const key = pieceKey(this.key, from);
    await this.bucket.put(key, this.#ofFile(from, to));
    this.#pieces.push({ key, from, to });
  }

  /** Completes the object: from the file if it has as much as the bucket, else from the pieces. */
  async #finish(size: number): Promise<void> {
    const kept = this.#kept;
    const rest = size >= this.#sent ? this.#ofFile(kept, size) : this.#ofPieces(kept);
    if (this.#id === undefined) {
      if (rest.bytes > 0) await this.bucket.put(this.key, rest);
    } else {
      if (rest.bytes > 0) await this.#addPart(rest);
      await this.bucket.complete(this.key, this.#id, this.#parts);
    }
    this.#done = true;
  }

  /** Removes pieces that parts, or the object, contain too. */
  async #tidy(): Promise<void> {
    const kept = this.#done ? Infinity : this.#kept;
    const spare = this.#pieces.filter(({ to }) => to <= kept);
    if (spare.length === 0) return;
    await this.bucket.remove(spare.map(({ key }) => key));
    this.#pieces = this.#pieces.filter(({ to }) => to > kept);
  }
}
