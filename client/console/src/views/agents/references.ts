/** What configurations name by ids: where the ids stand, and where the names of what they stand for come from. */
import type { Option } from '../../form/pick.js';
import { type Path, patternOf } from '../../form/form.js';
import { texts } from '../../texts.js';
import { allVoices, voiceName } from '../../voices.js';
import { agentOptions, sourceOptions, toolOptions } from './agent-api.js';

type Load = (signal: AbortSignal) => Promise<readonly Option[]>;

const voiceOptions: Load = async (signal) => [
  { id: 'default', name: texts.speak.defaultVoice },
  ...(await allVoices(signal)).map((voice) => ({ id: voice._id, name: voiceName(voice) })),
];

/** By path, with `*` for positions in lists; a list of ids has the path of its entries. */
const REFERENCES: Readonly<Record<string, Load>> = {
  'voice.voice_id': voiceOptions,
  'tools.tool_ids': toolOptions,
  'tools.transfer_agents.*.agent_id': agentOptions,
  'knowledge_base.knowledge_source_ids': sourceOptions,
};

/** Names by id. */
export type Names = ReadonlyMap<string, string>;

const isReference = (path: Path): boolean => Object.hasOwn(REFERENCES, patternOf(path));

/** The name of what that text stands for; undefined if it is no id, or names cannot be read. What is not there any more has none but its id. */
export const nameOf = (text: string, path: Path, names: Names | undefined): string | undefined =>
  names && isReference(path) ? (names.get(text) ?? texts.agents.difference.gone(text)) : undefined;

/** The patterns of ids within a value at that path. */
export function patternsIn(value: unknown, path: Path): readonly string[] {
  if (typeof value === 'string') return isReference(path) ? [patternOf(path)] : [];
  if (Array.isArray(value))
    return value.flatMap((each, at) => patternsIn(each, typeof each === 'string' ? path : [...path, at]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) => patternsIn(part, [...path, name]));
}

/** The names that these patterns need, each list read once. Errors: those of `ask`. */
export async function readNames(patterns: readonly string[], signal: AbortSignal): Promise<Names> {
  const lists = await Promise.all(
    Object.entries(REFERENCES)
      .filter(([pattern]) => patterns.includes(pattern))
      .map(([, load]) => load(signal)),
  );
  return new Map(lists.flat().map(({ id, name }) => [id, name]));
}
