/** The syntax tree of a source, TypeScript or not: nodes as ESTree names them, with TypeScript's own beside them. */
import { parseSync, visitorKeys } from 'oxc-parser';

function collect(node, skip, nodes) {
  if (skip(node)) return nodes;
  nodes.push(node);
  for (const key of visitorKeys[node.type] ?? [])
    for (const child of [node[key]].flat()) if (child) collect(child, skip, nodes);
  return nodes;
}

/**
 * All nodes, in the order of the source, but for those that `skip` names and what is below them. Throws where the text
 * is no source at all.
 */
export function nodesOf(file, text, skip = () => false) {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return collect(program, skip, []);
}

/** The text that a node stands for, where it is written out: a string, or a template without expressions. */
export function textOf(node) {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node.type === 'TemplateLiteral' && node.quasis.length === 1) return node.quasis[0].value.cooked;
  return node.type === 'TSLiteralType' ? textOf(node.literal) : undefined;
}

/** The line of an offset, from 1. */
export const lineAt = (text, offset) => text.slice(0, offset).split('\n').length;
