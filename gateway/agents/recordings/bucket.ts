/**
 * The bucket operations that recordings need. Bodies are streams of known length that can be read once: an upload is
 * never in memory as a whole. Errors: those of the server.
 */
import type { Readable } from 'node:stream';

export interface BucketObject {
  readonly key: string;
  readonly bytes: number;
}

/** A part of a multipart upload that the bucket has. */
export interface BucketPart {
  /** From 1 on. */
  readonly number: number;
  readonly bytes: number;
  readonly etag: string;
}

export interface ObjectBody {
  readonly bytes: number;
  stream(): Readable;
}

/** A part of an object. */
export interface BucketRange {
  /** Bytes of the whole object. */
  readonly total: number;
  readonly stream: Readable;
}

export interface Bucket {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  put(key: string, body: ObjectBody): Promise<void>;
  /** Reads a range (`bytes=…`) of an object. Undefined if there is no such object. */
  read(key: string, range: string): Promise<BucketRange | undefined>;
  /** Bytes of an object. Undefined if there is no such object. */
  size(key: string): Promise<number | undefined>;
  /** All objects whose keys begin so, in the order of the keys. */
  list(start: string): Promise<readonly BucketObject[]>;
  /** Ignores missing objects. */
  remove(keys: readonly string[]): Promise<void>;
  /** Begins a multipart upload, and returns its id. */
  begin(key: string): Promise<string>;
  part(key: string, id: string, number: number, body: ObjectBody): Promise<BucketPart>;
  complete(key: string, id: string, parts: readonly BucketPart[]): Promise<void>;
  abort(key: string, id: string): Promise<void>;
  /** Unfinished uploads of all keys that begin so. */
  begun(start: string): Promise<readonly { readonly key: string; readonly id: string }[]>;
  parts(key: string, id: string): Promise<readonly BucketPart[]>;
  /** A signed address at which anybody may read the object, for this many seconds. */
  address(key: string, seconds: number): Promise<string>;
}
