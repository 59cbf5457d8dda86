/** The text of an item's file, and a place for it. For Node and browsers. */
import { stringify } from 'yaml';

const MOST_NAME = 60;

const slug = (text) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, MOST_NAME) || 'unnamed';

export const textOf = ({ agent, value }) =>
  stringify(agent === undefined ? value : { agent, ...value }, { lineWidth: 0, blockQuote: 'literal' });

/** The path, with `/`, of a file that is not taken yet. */
export function freePlace({ noun, name, agent }, isTaken) {
  const place = [noun, ...(agent === undefined ? [] : [slug(agent)]), slug(name)].join('/');
  for (let number = 1; ; number += 1) {
    const file = `${place}${number === 1 ? '' : `-${number}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}
