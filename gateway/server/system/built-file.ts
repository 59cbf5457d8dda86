/** Files that the build has made for pages, plain and compressed. */
import { readFile } from 'node:fs/promises';
import type { HttpRequest } from '../port.js';

/** Reads the file at its first request and keeps it. */
export function builtFile(file: URL): () => Promise<Buffer> {
  let reading: Promise<Buffer> | undefined;
  return () =>
    (reading ??= readFile(file).catch((error: unknown) => {
      reading = undefined;
      throw error;
    }));
}

export const takesGzip = ({ headers }: Pick<HttpRequest, 'headers'>): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))/i.test(headers.get('accept-encoding') ?? '');
