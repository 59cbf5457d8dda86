/**
 * The process that reads one document, started by documents.ts under its limits. Its kind is the argument, its bytes come on standard
 * input, and what was read goes to standard output as JSON. Exit code 1, without a word, if there was not enough memory.
 */
import { buffer } from 'node:stream/consumers';
import { DOCUMENT_KINDS, type DocumentKind } from '../../contracts/ports/documents.js';
import { LIMITS } from '../../contracts/limits.js';
import { type DocumentResult, TOO_LONG } from './document-result.js';
import { decoded, textOfHtml, TooDeep } from './html.js';

const PDF_MARK = '%PDF-';
/** Bytes in which the mark stands; some programs write something before it. */
const HEAD = 1024;

const isPdf = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(HEAD, bytes.length)).includes(PDF_MARK);

/** What a stream unfolds to does not fit into memory. */
const isTooMuch = (error: unknown): boolean => error instanceof RangeError;

async function readPdf(bytes: Uint8Array): Promise<DocumentResult> {
  if (!isPdf(bytes)) return { refusal: 'is no PDF' };
  // A megabyte of code that pages do not need.
  const { textOfPdf } = await import('./pdf.js');
  try {
    const { pages, text } = await textOfPdf(bytes);
    const most = LIMITS.document.pages;
    return pages > most ? { refusal: `has ${pages} pages: at most ${most} are read` } : { text };
  } catch (error) {
    if (isTooMuch(error)) throw error;
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return { refusal: isLocked ? 'is protected by a password' : 'is a PDF that cannot be read' };
  }
}

function readHtml(bytes: Uint8Array): DocumentResult {
  const html = decoded(bytes);
  if (html === undefined) return { refusal: 'is not written in UTF-8, nor as it says' };
  try {
    return { text: textOfHtml(html) };
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    return { refusal: `has more than ${LIMITS.document.depth} elements that nothing has closed` };
  }
}

const READ: Readonly<Record<DocumentKind, (bytes: Uint8Array) => DocumentResult | Promise<DocumentResult>>> =
  {
    pdf: readPdf,
    html: readHtml,
  };

/** Nobody takes a text that is too long. */
const bounded = (result: DocumentResult): DocumentResult =>
  'text' in result && Buffer.byteLength(result.text) > LIMITS.document.textBytes ? TOO_LONG : result;

const kind = DOCUMENT_KINDS.find((known) => known === process.argv[2]);
if (kind === undefined) throw new Error('A process that reads documents is started by the gateway');
const result = await READ[kind](new Uint8Array(await buffer(process.stdin)));
process.stdout.write(JSON.stringify(bounded(result)));
