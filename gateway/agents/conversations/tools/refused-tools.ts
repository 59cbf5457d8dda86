/**
 * Which tools a model's server means when it refuses a request because of one of them. Servers name the function ("Invalid schema for
 * function 'x'"), or its place in the request ("tools[3].function.parameters", "tools.3").
 */
import type { ConversationTool } from './tool.js';

type Offered = Pick<ConversationTool, 'name' | 'source'>;

const PLACE = /\b(?:tools|functions|function_declarations)(?:\[|\.|\/)(\d{1,4})/g;
const ABOUT_TOOLS = /\b(?:tools?|functions?|schemas?|function_declarations|parameters)\b/i;

const isNamed = (why: string, name: string): boolean =>
  new RegExp(`(?<![\\w-])${name.replace(/[.-]/g, '\\$&')}(?![\\w-])`).test(why);

/**
 * The tools that the refusal is about, of those that were offered, in their order. Without a name all tools of MCP servers, whose
 * schemas nobody here has checked; none if it is about something else.
 */
export function refusedTools<Tool extends Offered>(why: string, offered: readonly Tool[]): readonly Tool[] {
  if (!ABOUT_TOOLS.test(why)) return [];
  const places = new Set([...why.matchAll(PLACE)].map(([, place]) => Number(place)));
  const named = offered.filter(({ name }, index) => places.has(index) || isNamed(why, name));
  return named.length > 0 ? named : offered.filter(({ source }) => source === 'mcp');
}
