/** A workspace as its gateway has it, and the requests that change it. */
import { NoVerdict } from '../agent-test/gateway.mjs';
import { NOUNS, withIds, withNames, withoutSecrets } from './nouns.mjs';

/** What identifies an item in files: its noun, its name, and whose it is. */
export const keyOf = ({ noun, agent, name }) =>
  [noun, ...(agent === undefined ? [] : [agent]), name].join('/');

/** The key of what an item refers to by a name; tests are those of its own agent. */
const referred = ({ agent }, noun, name) => keyOf({ noun, name, ...(NOUNS[noun].owner && { agent }) });

const ID = /^[a-z]+_[0-9a-z]{24}$/;
const AT_ONCE = 4;

/** As `Promise.all` of `work` for each, a few at a time. */
async function each(rows, work) {
  const results = [];
  for (let at = 0; at < rows.length; at += AT_ONCE)
    results.push(...(await Promise.all(rows.slice(at, at + AT_ONCE).map(work))));
  return results;
}

export class Workspace {
  #gateway;
  /** Noun → id → name, and the other way round; of what belongs to an agent, its name stands before it. */
  #names = {};
  #ids = {};
  /** By their keys: `{ noun, name, agent, id, value }`. */
  items = new Map();

  /** `gateway.call(method, path, body)`: the parsed answer of a route below `/v1/agent`. */
  constructor(gateway) {
    this.#gateway = gateway;
    for (const noun of Object.keys(NOUNS)) [this.#names[noun], this.#ids[noun]] = [new Map(), new Map()];
  }

  /** Reads all of it. Throws NoVerdict, also for two things of one name. */
  async read() {
    for (const noun of Object.keys(NOUNS)) await this.#readNoun(noun);
    for (const [key, item] of this.items) this.items.set(key, { ...item, value: this.#shown(item) });
    return this;
  }

  /** Makes what is not there, and gives it the id by which others refer to it. */
  async create(item) {
    const { path, id, body, owner, created = (value) => value } = NOUNS[item.noun];
    const sent = body(this.#resolved({ ...item, value: created(item.value) }));
    const made = await this.#gateway.call(
      'POST',
      path,
      owner ? { agent_id: this.#agentOf(item), ...sent } : sent,
    );
    this.#know(item, made[id]);
    return made[id];
  }

  async change(item) {
    const { path, body } = NOUNS[item.noun];
    const at = `${path}/${this.idOf(item)}`;
    const resolved = this.#resolved(item);
    if (item.noun !== 'agents') return this.#gateway.call('PATCH', at, body(resolved));
    const { config = {}, ...own } = resolved;
    await this.#gateway.call('PATCH', at, own);
    return this.#gateway.call('PATCH', `${at}/config`, config);
  }

  remove = (item) => this.#gateway.call('DELETE', `${NOUNS[item.noun].path}/${this.idOf(item)}`);

  /** Publishes a draft that differs from what is live; undefined if it does not. */
  async publish(item, title) {
    const at = `agents/${this.idOf(item)}`;
    const [{ versions }, { config_hash: draft }] = await Promise.all([
      this.#gateway.call('GET', `${at}/versions?page_size=1`),
      this.#gateway.call('GET', `${at}/config`),
    ]);
    if (versions[0]?.config_hash === draft) return undefined;
    return this.#gateway.call('POST', `${at}/publish`, title === '' ? {} : { version_title: title });
  }

  /** Throws NoVerdict where one refers to what is neither in the files nor at the gateway. */
  checkReferences(files) {
    const check = (item) =>
      withIds(item.value, (noun, name) => {
        const key = referred(item, noun, name);
        // What the gateway itself did not know by a name was written as it is.
        if (!files.has(key) && !this.#ids[noun].has(key) && !ID.test(name))
          throw new NoVerdict(`${keyOf(item)} refers to “${name}”, which is not among ${noun}`);
        return name;
      });
    for (const item of files.values()) {
      check(item);
      const owner = item.agent === undefined ? undefined : keyOf({ noun: 'agents', name: item.agent });
      if (owner !== undefined && !files.has(owner) && !this.#ids.agents.has(owner))
        throw new NoVerdict(`${keyOf(item)}: there is no agent “${item.agent}”`);
    }
  }

  idOf = (item) => this.#ids[item.noun].get(keyOf(item));

  /** The titles of these voices, by their ids; what the gateway does not know, or this key may not read, has none. */
  async voiceTitles(ids) {
    const titles = new Map();
    await each(ids, async (id) => {
      const path = `../../model/${encodeURIComponent(id)}`;
      const voice = await this.#gateway.call('GET', path).catch(() => undefined);
      if (voice) titles.set(id, voice.title);
    });
    return titles;
  }

  /** Headers and webhooks whose credential the gateway does not have. */
  async missingSecrets(item) {
    if (item.noun !== 'tools') return [];
    const { headers } = await this.#gateway.call('GET', `tools/${this.idOf(item)}`);
    return headers.filter(({ kind, has_secret: has }) => kind !== 'custom' && !has).map(({ name }) => name);
  }

  async #readNoun(noun) {
    const { path, id, query = '' } = NOUNS[noun];
    const rows = await this.#rows(noun, query);
    const read = await each(rows, async ({ [id]: one }) => {
      const detail = await this.#gateway.call('GET', `${path}/${one}`);
      return noun === 'agents' ? [detail, await this.#gateway.call('GET', `agents/${one}/config`)] : [detail];
    });
    for (const parts of read) this.#add(noun, parts);
  }

  #add(noun, [detail, config]) {
    const { id, of, owner } = NOUNS[noun];
    const { name } = detail;
    const agent = owner ? this.#names.agents.get(detail.agent_id) : undefined;
    const item = { noun, name, ...(owner && { agent }), id: detail[id], value: of(detail, config) };
    const known = this.items.get(keyOf(item));
    if (known)
      throw new NoVerdict(
        `two ${noun} are called “${name}” (${known.id}, ${item.id}): rename one, files refer to names`,
      );
    this.items.set(keyOf(item), item);
    this.#know(item, item.id);
  }

  #know(item, id) {
    this.#ids[item.noun].set(keyOf(item), id);
    this.#names[item.noun].set(id, item.name);
  }

  async #rows(noun, query) {
    const { path, plural } = NOUNS[noun];
    const rows = [];
    for (let cursor = ''; cursor !== null;) {
      const page = await this.#gateway.call(
        'GET',
        `${path}?page_size=100&cursor=${encodeURIComponent(cursor)}&${query}`,
      );
      rows.push(...page[plural]);
      cursor = page.next_cursor;
    }
    return rows;
  }

  #shown = ({ value }) => withoutSecrets(withNames(value, (noun, id) => this.#names[noun].get(id) ?? id));

  #agentOf({ agent }) {
    return this.#ids.agents.get(keyOf({ noun: 'agents', name: agent }));
  }

  #resolved(item) {
    return withIds(item.value, (noun, name) => this.#ids[noun].get(referred(item, noun, name)) ?? name);
  }
}
