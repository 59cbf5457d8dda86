/** Requests to the gateway that served the page, with the tab's key. */
import { texts } from './texts.js';

export interface Problem {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

/** A request that the gateway refused or that could not reach it. `message` is the gateway's, `advice` says what to do about it. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly problems: readonly Problem[] = [],
    readonly retryAfter?: number,
  ) {
    super(message);
  }

  get advice(): string {
    const { advice } = texts;
    if (this.status === 429 && this.retryAfter) return advice.waitSeconds(this.retryAfter);
    return advice.byStatus[this.status] ?? (this.status >= 500 ? advice.server : advice.correct);
  }
}

const KEY = 'console.key';

export const key = {
  read: (): string => sessionStorage.getItem(KEY) ?? '',
  keep: (text: string): void => sessionStorage.setItem(KEY, text),
  forget: (): void => sessionStorage.removeItem(KEY),
};

/** Resolves a path relative to the page, so that it also works behind a proxy's prefix. */
export const addressOf = (path: string): URL => new URL(path, document.baseURI);

const authorization = (): Record<string, string> => ({ authorization: `Bearer ${key.read()}` });

interface Asked {
  readonly method?: string;
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
  /** Tries a key: one that is refused is told, and nobody is asked for another. */
  readonly isTrial?: boolean;
}

/** Asks for another key where the one in use is refused; resolves once there is one. Absent: a refusal is told as any other. */
export const whenRefused: { ask?: (() => Promise<void>) | undefined } = {};

let asking: Promise<void> | undefined;

/** All requests that are refused meanwhile wait for the same answer. */
const anotherKey = (ask: () => Promise<void>): Promise<void> =>
  (asking ??= ask().finally(() => (asking = undefined)));

const REFUSED_KEY = 401;

type Said = { readonly message?: string; readonly errors?: readonly Problem[] } | undefined;

export async function refusalOf(response: Response): Promise<Refusal> {
  const said = (await response.json().catch(() => undefined)) as Said;
  const wait = Number(response.headers.get('retry-after') ?? NaN);
  const message = said?.message ?? texts.errors.unexpected(response.status);
  return new Refusal(response.status, message, said?.errors, Number.isFinite(wait) ? wait : undefined);
}

/** Resolves when the response begins. Errors: Refusal; the signal's abort reason. */
export async function request(path: string, asked: Asked = {}): Promise<Response> {
  const { method, body, signal, isTrial = false } = asked;
  const isForm = body instanceof FormData;
  const response = await fetch(addressOf(path), {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: { ...authorization(), ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new Refusal(0, texts.errors.unreachable);
  });
  if (response.status === REFUSED_KEY && whenRefused.ask && !isTrial) {
    await anotherKey(whenRefused.ask);
    signal?.throwIfAborted();
    return request(path, asked);
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The answer's JSON; undefined if there is none. Errors: those of `request`. */
export async function ask<Answer>(path: string, asked: Asked = {}): Promise<Answer> {
  const response = await request(path, asked);
  if (response.status === 204) return undefined as Answer;
  const answer = (await response.json().catch(() => undefined)) as Answer | undefined;
  if (answer === undefined || answer === null) throw new Refusal(0, texts.errors.unexpected(response.status));
  return answer;
}

/** Sends a form and reports the part sent so far. Errors: those of `request`. */
export function upload<Answer>(
  path: string,
  form: FormData,
  {
    method = 'POST',
    signal,
    progress,
  }: { method?: string; signal?: AbortSignal; progress?: (part: number) => void },
): Promise<Answer> {
  const sending = new XMLHttpRequest();
  sending.open(method, addressOf(path));
  for (const [name, value] of Object.entries(authorization())) sending.setRequestHeader(name, value);
  sending.upload.onprogress = ({ loaded, total }) => progress?.(total ? loaded / total : 0);
  const answered = new Promise<Answer>((resolve, reject) => {
    sending.onerror = () => reject(new Refusal(0, texts.errors.unreachable));
    sending.onabort = () =>
      reject((signal?.reason as Error | undefined) ?? new Refusal(0, texts.errors.unreachable));
    sending.onload = () => {
      const headers = { 'retry-after': sending.getResponseHeader('retry-after') ?? '' };
      const response = new Response(sending.responseText, { status: sending.status, headers });
      if (response.ok) response.json().then((value) => resolve(value as Answer), reject);
      else refusalOf(response).then(reject, reject);
    };
  });
  signal?.addEventListener('abort', () => sending.abort(), { once: true });
  sending.send(form);
  return answered;
}

export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError';
