/**
 * What an agent consists of, as nouns of the API: where each is read and written, and what of it is in a file. Ids are of one gateway,
 * so files name things by their names; credentials are never read, and stay out.
 */

const pick = (value, names) =>
  Object.fromEntries(names.filter((name) => name in value).map((name) => [name, value[name]]));

const without = (value, names) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));

const STAMPS = ['workspace_id', 'created_at', 'updated_at'];
const OWN = ['status', 'public_enabled', 'allowed_origins', 'overrides_allowed'];

const formOf = ({ name, description = '', file_name: file, content }) => {
  const form = new FormData();
  form.set('name', name);
  form.set('description', description);
  form.set('source', new File([content], file));
  return form;
};

/**
 * In the order in which they are made: each refers to earlier ones only, but for agents, which may refer to each other. `of`: what a file
 * has of the API's answer; `created`: what of a file is sent first, if it is not all of it; `owner`: the noun that it belongs to. An agent's configuration is read and written apart.
 */
export const NOUNS = {
  tools: {
    path: 'tools',
    plural: 'tools',
    id: 'tool_id',
    of: (tool) => without(tool, ['tool_id', 'used_by', ...STAMPS]),
    body: (value) => value,
  },
  knowledge: {
    path: 'knowledge-sources',
    plural: 'knowledge_sources',
    id: 'knowledge_source_id',
    of: (source) => pick(source, ['name', 'description', 'file_name', 'content']),
    body: formOf,
  },
  agents: {
    path: 'agents',
    plural: 'agents',
    id: 'agent_id',
    query: 'include_archived=true',
    of: (agent, config) => ({
      ...pick(agent, ['name', 'description', ...OWN]),
      config: without(config, ['agent_id', 'config_hash', 'updated_at']),
    }),
    created: (value) => pick(value, ['name', 'description']),
    body: (value) => value,
  },
  tests: {
    path: 'tests/scenarios',
    plural: 'scenarios',
    id: 'scenario_id',
    owner: 'agents',
    of: (scenario) => without(scenario, ['scenario_id', 'agent_id', ...STAMPS]),
    body: (value) => value,
  },
  suites: {
    path: 'tests/suites',
    plural: 'suites',
    id: 'suite_id',
    owner: 'agents',
    of: (suite) => without(suite, ['suite_id', 'agent_id', ...STAMPS]),
    body: (value) => value,
  },
};

/** Members that hold ids, and what they are called in files, where they hold names. */
const REFERENCES = {
  tool_ids: ['tools', 'tools'],
  knowledge_source_ids: ['knowledge_sources', 'knowledge'],
  scenario_ids: ['scenarios', 'tests'],
  agent_id: ['agent', 'agents'],
};
/** Where a member of that name is a reference: elsewhere `tools` are other things. */
const IN_FILES = Object.fromEntries(
  Object.entries(REFERENCES).map(([field, [name, noun]]) => [name, [field, noun]]),
);

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function renamed(value, table, swap) {
  if (Array.isArray(value)) return value.map((each) => renamed(each, table, swap));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const [other, noun] = Object.hasOwn(table, name) ? table[name] : [];
      const isReference =
        noun &&
        (typeof member === 'string' ||
          (Array.isArray(member) && member.every((each) => typeof each === 'string')));
      if (!isReference) return [name, renamed(member, table, swap)];
      return [other, Array.isArray(member) ? member.map((each) => swap(noun, each)) : swap(noun, member)];
    }),
  );
}

/** `nameOf(noun, id)`: the name of what has that id; what is not known any more stays as it is. */
export const withNames = (value, nameOf) => renamed(value, REFERENCES, nameOf);

/** The other way round. `idOf` throws for a name that there is not. */
export const withIds = (value, idOf) => renamed(value, IN_FILES, idOf);

/** Credentials are told by `has_secret` alone, and are no part of a file. */
export function withoutSecrets(value) {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const isCredential = 'has_secret' in value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, member]) => name !== 'has_secret' && !(isCredential && member === null))
      .map(([name, member]) => [name, withoutSecrets(member)]),
  );
}
