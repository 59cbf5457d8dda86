/**
 * Decompresses response bodies. None is requested compressed, but some servers send stored files compressed regardless. The
 * output is read piece by piece, so that the bounds on a body apply to it and not to the compressed bytes.
 */
import { pipeline, type Readable, type Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** Reads truncated input as far as it goes; an empty body stays empty. */
const { Z_SYNC_FLUSH: SYNC, BROTLI_OPERATION_FLUSH: FLUSH } = constants;
const ZLIB = { flush: SYNC, finishFlush: SYNC };
const BROTLI = { flush: FLUSH, finishFlush: FLUSH };

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  deflate: () => createInflate(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
};

/** The decompressed body; unchanged if `encoding` is unknown or absent. */
export function decoded(body: Readable, encoding = ''): AsyncIterable<Buffer> {
  const name = encoding.trim().toLowerCase();
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.() : undefined;
  // Errors reach whoever reads the decoder.
  return decoder ? pipeline(body, decoder, () => undefined) : body;
}
