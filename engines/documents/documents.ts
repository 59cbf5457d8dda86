/**
 * Reads PDF and HTML, whatever is in them, in a process for each: a file of 10 MB may unfold to gigabytes, or take minutes.
 *
 * Invariants: one document at a time, workspaces take turns, and a bounded number waits; each has a bounded time and memory, over which its
 * process ends, and goes behind everything else on the processor.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import { text as whole } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { CODE_RANGE_KIB, type NodeLimits } from '../../codecs/decode/limits.js';
import { limitedNode, spawnOptions } from '../../codecs/decode/process.js';
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { BUILT } from '../../contracts/places.js';
import type { DocumentKind, DocumentReader } from '../../contracts/ports/documents.js';
import { ownerOf } from '../../processes/job-owner.js';
import { type DocumentResult, TOO_LONG } from './document-result.js';

export interface DocumentTask {
  readonly kind: DocumentKind;
  readonly bytes: Uint8Array;
}

const PROCESS = fileURLToPath(new URL('engines/documents/documents-process.js', BUILT));
const { queue, timeMs, memoryBytes, textBytes } = LIMITS.document;
const MEMORY: NodeLimits = { dataKiB: memoryBytes / 1024 + CODE_RANGE_KIB, heapMb: 192 };

const refused = (what: string): ServiceError => {
  const message = `source ${what}`;
  return new ServiceError('validation_failed', {
    message,
    problems: [{ type: 'document', loc: ['source'], message }],
  });
};

const TOO_MUCH = `takes longer than ${timeMs / 1000} s to read, or more memory than there is: divide it`;

/** Errors: `validation_failed`. */
function checked(result: DocumentResult | undefined): string {
  if (!result) throw refused(TOO_MUCH);
  if ('refusal' in result) throw refused(result.refusal);
  // Postgres takes no null characters.
  const text = result.text.replaceAll('\0', '');
  if (text.trim() === '') throw refused('has no text: what was scanned has to be recognised first (OCR)');
  if (Buffer.byteLength(text) > textBytes) throw refused(TOO_LONG.refusal);
  return text;
}

/** Errors: `overloaded`, if the system has no process left. */
const startedFor = (kind: DocumentKind): Promise<ChildProcess> =>
  new Promise((resolve, reject) => {
    const [program, args] = limitedNode(PROCESS, [kind], MEMORY);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], ...spawnOptions() });
    child.on('spawn', () => resolve(child));
    child.on('error', (cause) => reject(new ServiceError('overloaded', { retryAfter: 5, cause })));
  });

function resultIn(said: string): DocumentResult | undefined {
  try {
    return JSON.parse(said) as DocumentResult;
  } catch {
    return undefined;
  }
}

/** What the process has said; undefined if it has ended before it had said it. */
async function saidBy(
  { stdin, stdout }: ChildProcess,
  bytes: Uint8Array,
): Promise<DocumentResult | undefined> {
  // A process that has ended takes nothing more.
  stdin?.on('error', () => undefined).end(bytes);
  const said = stdout ? await whole(stdout) : '';
  return resultIn(said);
}

export class ProcessReader implements DocumentReader {
  readonly #places = new FairPlaces({ slots: 1, queue });
  readonly #stopping = new AbortController();

  constructor(private readonly clock: Clock) {
    // Every document that waits listens to it.
    setMaxListeners(0, this.#stopping.signal);
  }

  async textOf(kind: DocumentKind, bytes: Uint8Array, workspaceId: string): Promise<string> {
    const leave = await this.#places.turn(ownerOf({ workspaceId }), this.#stopping.signal).catch(() => {
      const message = 'Too many documents wait to be read, try again';
      throw new ServiceError('overloaded', { message, retryAfter: 5 });
    });
    try {
      return checked(await this.#read({ kind, bytes }));
    } finally {
      leave();
    }
  }

  /** Ends the process that reads. Idempotent. */
  stop(): void {
    this.#stopping.abort();
  }

  /** Undefined if the process has ended over it. */
  async #read({ kind, bytes }: DocumentTask): Promise<DocumentResult | undefined> {
    const child = await startedFor(kind);
    const end = (): void => void child.kill('SIGKILL');
    const { signal } = this.#stopping;
    const late = this.clock.after(timeMs, end);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    try {
      return await saidBy(child, bytes);
    } finally {
      late();
      signal.removeEventListener('abort', end);
      end();
    }
  }
}
