/** The thread that reads documents: one after the other. */
import { parentPort } from 'node:worker_threads';
import { LIMITS } from '../../contracts/limits.js';
import type { DocumentKind } from '../../contracts/ports/documents.js';
import type { DocumentResult, DocumentTask } from './documents.js';
import { decoded, textOfHtml } from './html.js';
import { textOfPdf } from './pdf.js';

if (!parentPort) throw new Error('The reading thread is started by its reader');
const port = parentPort;

const PDF_MARK = '%PDF-';
/** Bytes in which the mark stands; some programs write something before it. */
const HEAD = 1024;

const isPdf = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(HEAD, bytes.length)).includes(PDF_MARK);

async function readPdf(bytes: Uint8Array): Promise<DocumentResult> {
  if (!isPdf(bytes)) return { refusal: 'is no PDF' };
  try {
    const { pages, text } = await textOfPdf(bytes);
    const most = LIMITS.document.pages;
    return pages > most ? { refusal: `has ${pages} pages: at most ${most} are read` } : { text };
  } catch (error) {
    const isLocked = error instanceof Error && error.name === 'PasswordException';
    return { refusal: isLocked ? 'is protected by a password' : 'is a PDF that cannot be read' };
  }
}

function readHtml(bytes: Uint8Array): DocumentResult {
  const html = decoded(bytes);
  return html === undefined
    ? { refusal: 'is not written in UTF-8, nor as it says' }
    : { text: textOfHtml(html) };
}

const READ: Readonly<Record<DocumentKind, (bytes: Uint8Array) => DocumentResult | Promise<DocumentResult>>> =
  {
    pdf: readPdf,
    html: readHtml,
  };

port.on('message', ({ kind, bytes }: DocumentTask) => {
  void Promise.resolve(READ[kind](bytes)).then((result) => port.postMessage(result));
});
