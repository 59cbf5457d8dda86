/**
 * One file by HTTP, gone on with where it broke off: what came so far is kept beside a note of the server's validator
 * (a strong ETag, or the date), and asked for from there with Range and If-Range. A server that has another file by now,
 * or cannot do ranges, sends it from the start. Invariant: what is kept never grows past the bound.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pipeline } from 'node:stream/promises';
import { authorityHint } from '../setup/authorities.mjs';
import { SetupError } from '../setup/failure.mjs';
import { readJson } from './places.mjs';

const TRIES = 4;
const WAIT_MS = 1_000;
/** The longest silence of a server before the download fails. */
const SILENCE_MS = 30_000;

/** Failures that another attempt may overcome. */
class Broken extends Error {}

const sizeOf = (file) => fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;

function validatorOf(headers) {
  const etag = headers.get('etag');
  return etag && !etag.startsWith('W/') ? etag : (headers.get('last-modified') ?? '');
}

/** How much has come, for whoever watches. `total` is NaN if the server does not tell. */
export const percentOf = (have, total) =>
  Number.isNaN(total) ? `${Math.round(have / 1e6)} MB` : `${Math.floor((100 * have) / total)} %`;

const keyOf = (url) => createHash('sha256').update(url).digest('hex').slice(0, 32);

/** The files that hold what came of an address so far. */
export const partOf = (folder, url) => ({
  part: path.join(folder, `${keyOf(url)}.part`),
  note: path.join(folder, `${keyOf(url)}.json`),
});

export function forget(folder, url) {
  for (const file of Object.values(partOf(folder, url))) fs.rmSync(file, { force: true });
}

/** How many bytes are there to go on from. */
function resumable({ part, note }) {
  const { validator = '' } = readJson(note) ?? {};
  return validator === '' ? { from: 0 } : { from: sizeOf(part), validator };
}

const rangeOf = ({ from, validator }) => (from > 0 ? { range: `bytes=${from}-`, 'if-range': validator } : {});

/** Offset of the body within the file, and the file's length; NaN if the server does not tell. */
function extentOf({ status, headers }, from) {
  if (status === 200) return { start: 0, total: Number(headers.get('content-length') ?? NaN) };
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers.get('content-range') ?? '') ?? [];
  if (Number(start) !== from) throw new Broken('the server sent another part than was asked for');
  return { start: from, total: Number(total) };
}

function checkStatus({ status, statusText }) {
  if (status === 200 || status === 206) return;
  const words = `the server answered ${status} ${statusText}`.trim();
  throw status >= 500 || status === 429 || status === 416 ? new Broken(words) : new SetupError(words);
}

const tooLarge = (most) => new SetupError(`the file is larger than the ${most} bytes that it may have`);

/** Counts the bytes that pass, and fails beyond the limit. */
const counting = (start, total, most, note) =>
  async function* (chunks) {
    let have = start;
    for await (const chunk of chunks) {
      have += chunk.length;
      if (have > most) throw tooLarge(most);
      note(have, total);
      yield chunk;
    }
  };

async function ask({ url, files, http, headers, dispatcher, signal }) {
  const kept = resumable(files);
  const sent = { ...headers, 'accept-encoding': 'identity', ...rangeOf(kept) };
  try {
    return { answer: await http.fetch(url, { headers: sent, dispatcher, signal }), from: kept.from };
  } catch (error) {
    signal?.throwIfAborted();
    const hint = authorityHint(error.cause?.code);
    if (hint) throw new SetupError(`${error.cause.message}${hint}`, { cause: error });
    throw new Broken(`${error.cause?.message ?? error.message}`, { cause: error });
  }
}

async function receive({ answer, from, files, most, note, signal }) {
  if (answer.status === 416) fs.rmSync(files.part, { force: true });
  checkStatus(answer);
  const { start, total } = extentOf(answer, from);
  if (total > most) throw tooLarge(most);
  const flags = start > 0 ? 'a' : 'w';
  if (start === 0) fs.writeFileSync(files.note, JSON.stringify({ validator: validatorOf(answer.headers) }));
  const file = fs.createWriteStream(files.part, { flags });
  try {
    await pipeline(answer.body ?? [], counting(start, total, most, note), file, { signal });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof SetupError || error.syscall === 'write' || error.syscall === 'open') throw error;
    throw new Broken(error.cause?.message ?? error.message, { cause: error });
  }
  if (sizeOf(files.part) < total) throw new Broken('the connection ended in the middle');
}

async function tryOnce(request) {
  const silence = { headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS };
  const dispatcher = new request.http.EnvHttpProxyAgent(silence);
  try {
    await receive({ ...request, ...(await ask({ ...request, dispatcher })) });
  } finally {
    await dispatcher.destroy();
  }
}

/** Names the server, so that whoever reads it knows what to look at. */
const failureAt = (url, message, cause) => new SetupError(`${new URL(url).host}: ${message}`, { cause });

/**
 * The path of the whole file. `most` bounds its bytes, `note(have, total)` hears of its progress. Throws SetupError;
 * what came until then is kept for the next time, unless it was too much.
 */
export async function download({
  url,
  folder,
  most,
  headers = {},
  note = () => {},
  signal,
  waitMs = WAIT_MS,
}) {
  const http = await import('undici');
  fs.mkdirSync(folder, { recursive: true });
  const files = partOf(folder, url);
  for (let attempt = 1; ; attempt++) {
    try {
      await tryOnce({ url, files, most, headers, note, signal, http });
      return files.part;
    } catch (error) {
      if (error instanceof SetupError) {
        forget(folder, url);
        throw failureAt(url, error.message, error);
      }
      if (!(error instanceof Broken)) throw error;
      if (attempt === TRIES) throw failureAt(url, `${error.message} (tried ${TRIES} times)`, error);
    }
    await wait(waitMs * attempt, undefined, { signal });
  }
}
