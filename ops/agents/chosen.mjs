/** Some agents of a workspace, with all that belongs to them. */
import { NoVerdict } from '../agent-test/gateway.mjs';
import { keyOf } from './remote.mjs';

/** Names that a value refers to, as `[noun, name]`, by the members that files have for them. */
export function namedIn(value) {
  if (Array.isArray(value)) return value.flatMap(namedIn);
  if (typeof value !== 'object' || value === null) return [];
  const { tools, knowledge_sources: sources, agent } = value;
  const names = (noun, list) =>
    Array.isArray(list) ? list.filter((name) => typeof name === 'string').map((name) => [noun, name]) : [];
  return [
    ...names('tools', tools),
    ...names('knowledge', sources),
    ...(typeof agent === 'string' ? [['agents', agent]] : []),
    ...Object.values(value).flatMap(namedIn),
  ];
}

/** These agents, their tests, and all that they refer to, other agents included. */
export function only(items, agents) {
  const kept = new Map();
  const keep = (noun, name) => {
    const key = keyOf({ noun, name });
    const item = items.get(key);
    if (!item || kept.has(key)) return;
    kept.set(key, item);
    for (const [of, one] of namedIn(item.value)) keep(of, one);
  };
  for (const name of agents) {
    if (!items.has(keyOf({ noun: 'agents', name }))) throw new NoVerdict(`there is no agent “${name}”`);
    keep('agents', name);
  }
  for (const [key, item] of items)
    if (item.agent !== undefined && kept.has(keyOf({ noun: 'agents', name: item.agent })))
      kept.set(key, item);
  return kept;
}
