/** A gateway's routes below `/v1/agent`, asked over HTTP; what only failed for a moment is asked again. */

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** There can be no verdict; the message says why, for the user. */
export class NoVerdict extends Error {
  name = 'NoVerdict';
}

/** Pauses before another attempt, in ms: a gateway may be restarting. */
const RETRY_MS = [1000, 2000, 4000, 8000, 15_000];
const ANSWER_MS = 30_000;
const MOMENTARY = new Set([429, 502, 503, 504]);

const reasonOf = (error) => error.cause?.message || error.cause?.code || error.message;

/** The status and all that is wrong. */
const refusalOf = ({ status }, { message = '', errors = [] }) => {
  const others = errors.map(({ msg }) => msg).filter((text) => text !== message);
  return [`${status} ${message}`.trim(), ...others].join('; ');
};

export class Gateway {
  #base;
  #key;

  constructor(url, key) {
    this.#base = `${url.replace(/\/+$/, '')}/v1/agent/`;
    this.#key = key;
  }

  /** The parsed answer. Throws NoVerdict. Requests with a body are sent once: they start something. */
  async call(method, path, body) {
    for (const wait of method === 'GET' ? RETRY_MS : []) {
      const answer = await this.#try(method, path).catch(() => undefined);
      if (answer && !MOMENTARY.has(answer.status)) return this.#read(answer);
      await pause(wait);
    }
    const answer = await this.#try(method, path, body).catch((error) => {
      throw new NoVerdict(`the gateway cannot be reached: ${reasonOf(error)}`);
    });
    return this.#read(answer);
  }

  #try(method, path, body) {
    const isForm = body instanceof FormData;
    return fetch(this.#base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
  }

  async #read(answer) {
    if (answer.status === 204) return undefined;
    const text = await answer.text();
    let value;
    try {
      value = JSON.parse(text);
    } catch {
      throw new NoVerdict(`${answer.status}: this is no gateway's answer`);
    }
    if (!answer.ok) throw new NoVerdict(refusalOf(answer, value));
    return value;
  }

  /** The id of a suite that is named by its id or its name. */
  async suiteId(agentId, named) {
    if (named.startsWith('suite_')) return named;
    let cursor = '';
    do {
      const query = new URLSearchParams({ agent_id: agentId, page_size: '100', ...(cursor && { cursor }) });
      const page = await this.call('GET', `tests/suites?${query}`);
      const found = page.suites.find(({ name }) => name === named);
      if (found) return found.suite_id;
      cursor = page.next_cursor;
    } while (cursor);
    throw new NoVerdict(`the agent has no suite “${named}”`);
  }
}
