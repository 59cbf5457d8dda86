/** Chooses a tool by its description, and extracts its arguments from the user's words. */
import type { ChatTool } from '../../../contracts/ports/chat.js';
import { overlap, topicsOf } from './words.js';

interface Parameters {
  readonly properties?: Readonly<Record<string, { readonly description?: string; readonly type?: string }>>;
  readonly required?: readonly string[];
}

export interface BuiltinToolUse {
  readonly tool: ChatTool;
  readonly filled: Readonly<Record<string, string | number | boolean>>;
  /** Required arguments that the user has not given yet, in the tool's order. */
  readonly missing: readonly string[];
}

const spelled = (name: string): string =>
  name
    .replace(/([a-z])([A-Z])/gu, '$1 $2')
    .replace(/[_-]+/gu, ' ')
    .toLowerCase();

/** Score of how well a tool fits a text; a word of its name counts double. */
function fitOf(tool: ChatTool, said: ReadonlySet<string>): number {
  return 2 * overlap(topicsOf(spelled(tool.name)), said) + overlap(topicsOf(tool.description), said);
}

const LEAST_FIT = 2;

/** The tool that a text asks for; undefined if none fits clearly. */
export function toolFor(text: string, tools: readonly ChatTool[]): ChatTool | undefined {
  const said = topicsOf(text);
  const [first] = tools
    .map((tool) => ({ tool, fit: fitOf(tool, said) }))
    .filter(({ fit }) => fit >= LEAST_FIT)
    .sort((one, other) => other.fit - one.fit);
  return first?.tool;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');

const FINDERS: readonly { readonly names: RegExp; readonly value: RegExp }[] = [
  { names: /e-?mail/u, value: /[\p{L}\p{N}._+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/u },
  { names: /phone/u, value: /\+?\d[\d ()/-]{5,}\d/u },
  {
    names: /date|day/u,
    value: /\b(?:today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d)\b/iu,
  },
  { names: /time|hour/u, value: /\b\d{1,2}(?::\d\d)?\s?(?:am|pm|o'clock)?\b/iu },
  { names: /number|id|code|count|amount|quantity|order/u, value: /\b[A-Z]*-?\d[\w-]*/iu },
];

/** A day is no name, where nothing but a capital letter tells: "book a table for Monday". */
const DAY = /^(?:mon|tues|wednes|thurs|fri|satur|sun)day\b/iu;

/**
 * `order number 42`, `city is Paris`, `to Paris`: a value after the parameter's name, or in a form that its name implies.
 */
function valueOf(name: string, said: string): string | undefined {
  const named = new RegExp(
    `\\b${escaped(spelled(name))}\\b(?:\\s+(?:is|of|to|as))?[\\s:]+["“]?([^,.;!?"”]+)`,
    'iu',
  );
  const value = named.exec(said)?.[1]?.trim();
  if (value !== undefined && value !== '') return value.split(/\s+(?:and|with|for|please)\b/iu)[0];
  const found = FINDERS.find(({ names }) => names.test(spelled(name)))?.value.exec(said)?.[0];
  const fallback = /\b(?:in|at|for|to|of|called|named)\s+((?:\p{Lu}[\p{L}'-]*\s?)+)/u.exec(said)?.[1]?.trim();
  return found ?? (/name/u.test(spelled(name)) && DAY.test(fallback ?? '') ? undefined : fallback);
}

const typed = (value: string, type: string | undefined): string | number | boolean => {
  const number = Number(value.replace(/[^\d.-]/gu, ''));
  if ((type === 'number' || type === 'integer') && Number.isFinite(number)) return number;
  return type === 'boolean' ? !/^(no|false|not)\b/iu.test(value) : value;
};

/** `said`: the user's sentences about it, newest first; the whole newest is the value of the parameter `asked`. */
export function fill(tool: ChatTool, said: readonly string[], asked?: string): BuiltinToolUse {
  const { properties = {}, required = Object.keys(properties) } = tool.parameters as Parameters;
  const filled: Record<string, string | number | boolean> = {};
  for (const [name, { type }] of Object.entries(properties)) {
    const value =
      name === asked
        ? (valueOf(name, said[0] ?? '') ?? said[0]?.replace(/[.!?]+$/u, ''))
        : said.map((text) => valueOf(name, text)).find((found) => found !== undefined);
    if (value !== undefined && value !== '') filled[name] = typed(value, type);
  }
  return { tool, filled, missing: required.filter((name) => filled[name] === undefined) };
}

/** The question for a parameter; it is recognised again in the last reply when the answer comes. */
export const questionFor = (name: string): string => `What is the ${spelled(name)}?`;
