/**
 * Function names, by which a model calls tools (docs/contract/decisions.md 17): `[a-zA-Z0-9_-]{1,64}` made from the
 * tool's name. Names that
 * begin with `_` belong to built-in tools.
 */
const LENGTH = 64;
const ID_PART = 8;

const ACCENTS = /\p{M}+/gu;
const OTHERS = /[^a-zA-Z0-9-]+/g;

/** The allowed characters of a tool's name; `tool_` and eight characters of its id if none is left. */
function bareName({ id, name }: Pick<NamedTool, 'id' | 'name'>): string {
  const plain = name.normalize('NFKD').replace(ACCENTS, '').replace(OTHERS, '_');
  const bare = plain
    .replace(/^[_-]+/, '')
    .slice(0, LENGTH)
    .replace(/_+$/, '');
  return bare === '' ? `tool_${id.slice(-ID_PART)}` : bare;
}

export interface NamedTool {
  readonly id: string;
  readonly name: string;
  /** A client tool keeps its name, by which the client knows it. */
  readonly client?: boolean;
}

function free(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number++) {
    const ending = number === 1 ? '' : `_${number}`;
    const tried = name.slice(0, LENGTH - ending.length) + ending;
    if (!taken.has(tried)) return tried;
  }
}

/** The function name of each tool, by the tool's id; all are different. Client tools are named first. */
export function functionNames(tools: readonly NamedTool[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const ordered = [...tools].sort((a, b) => Number(b.client ?? false) - Number(a.client ?? false));
  for (const tool of ordered) {
    const name = free(tool.client ? tool.name : bareName(tool), taken);
    taken.add(name);
    names.set(tool.id, name);
  }
  return names;
}

/**
 * The function name of an MCP server's tool: its own, or prefixed with the server's function name if that is taken. Adds
 * it to `taken`.
 */
export function serversToolName(
  tool: string,
  server: { id: string; name: string },
  taken: Set<string>,
): string {
  const own = bareName({ id: server.id, name: tool });
  const name = taken.has(own)
    ? free(bareName({ id: server.id, name: `${server.name}_${tool}` }), taken)
    : own;
  taken.add(name);
  return name;
}
