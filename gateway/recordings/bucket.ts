/**
 * What recordings need of a bucket. Bodies are streams that can be read once, of a length that is known before: what is
 * uploaded is never in memory as a whole. Errors: whatever the server answers.
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

export interface Body {
  readonly bytes: number;
  stream(): Readable;
}

/** A part of an object. */
export interface BucketRange {
  /** The whole object's. */
  readonly total: number;
  readonly stream: Readable;
}

export interface Bucket {
  /** `s3://bucket/prefix`. */
  readonly url: string;
  put(key: string, body: Body): Promise<void>;
  /** `bytes=…` of an object. Undefined where there is none. */
  read(key: string, range: string): Promise<BucketRange | undefined>;
  /** Bytes of an object. Undefined where there is none. */
  size(key: string): Promise<number | undefined>;
  /** All that begin so, by their keys. */
  list(start: string): Promise<readonly BucketObject[]>;
  /** Those that are not there are fine. */
  remove(keys: readonly string[]): Promise<void>;
  /** Begins a multipart upload; its id. */
  begin(key: string): Promise<string>;
  part(key: string, id: string, number: number, body: Body): Promise<BucketPart>;
  complete(key: string, id: string, parts: readonly BucketPart[]): Promise<void>;
  abort(key: string, id: string): Promise<void>;
  /** Uploads that have not ended, of all keys that begin so. */
  begun(start: string): Promise<readonly { readonly key: string; readonly id: string }[]>;
  parts(key: string, id: string): Promise<readonly BucketPart[]>;
  /** An address that whoever has it may read the object at, for so many seconds. */
  address(key: string, seconds: number): Promise<string>;
}
