/**
 * What the examples share: the gateway's address and key, requests to its API, and packages. Whatever is missing is told
 * in a line that says what to set, and the program ends.
 */
import { existsSync, readFileSync } from 'node:fs';

export const GATEWAY = (process.env.GATEWAY ?? 'http://localhost:8080').replace(/\/$/, '');

/** Ends the program. */
export function stop(why) {
  console.error(why);
  process.exit(1);
}

/** Where a gateway that was started in this checkout keeps its first key. */
const KEY_FILE = new URL('../data/api-key', import.meta.url);

function keyHere() {
  if (process.env.KEY) return process.env.KEY;
  if (existsSync(KEY_FILE)) return readFileSync(KEY_FILE, 'utf8').trim();
  return stop('Set KEY to an API key. A gateway prints its first one, and keeps it in data/api-key.');
}

export const KEY = keyHere();
/** These programs ask seldom: a connection that is kept might be closed just when the next request is sent. */
const HEADERS = { authorization: `Bearer ${KEY}`, connection: 'close' };

async function checkGateway() {
  const response = await fetch(`${GATEWAY}/v1/key`, { headers: HEADERS }).catch(() =>
    stop(`No gateway answers at ${GATEWAY}. Run npm start at the top of the repository, or set GATEWAY.`),
  );
  await response.body?.cancel();
  if (response.status === 401)
    stop(`The gateway at ${GATEWAY} does not know this key: set KEY to one of its own.`);
}
await checkGateway();

/** An answer that is no success, with what to do about it where that is known. */
function explain(method, path, status, text) {
  const url = /must not point to a (?:private|local)/.test(text) && /"url"/.test(text);
  if (url) return 'The gateway may not call this machine. Start it with OUTBOUND_ALLOW=127.0.0.1 npm start';
  return `${method} ${path}: ${status} ${text}`;
}

/** A request to the gateway, with the answer's JSON. `body`: an object, or a form. */
export async function api(method, path, body) {
  const isForm = body instanceof FormData;
  const response = await fetch(`${GATEWAY}${path}`, {
    method,
    headers: { ...HEADERS, ...(body && !isForm && { 'content-type': 'application/json' }) },
    body: isForm ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) stop(explain(method, path, response.status, text));
  return text === '' ? {} : JSON.parse(text);
}

const isRelative = (name) => name.startsWith('.');

/** Imports a package of examples/package.json, or a built file by its path from this folder. */
export const load = (name) =>
  import(name).catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    stop(
      isRelative(name)
        ? `${name} is missing: npm start at the top of the repository builds it.`
        : `The package ${name} is missing: run npm install in the folder examples.`,
    );
  });
