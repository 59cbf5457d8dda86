/** Parts of pages that `npm run generate` makes from the code. */

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** A table in Markdown. */
export const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(heading), row(heading.map(() => '---')), ...rows.map(row)].join('\n');

/** The page with other content between the marks of a block. Throws if it has no such marks. */
export function between(page: string, block: string, content: string): string {
  const [from, to] = [`<!-- ${block}: made by npm run generate -->\n`, `<!-- end of ${block} -->`];
  const [start, end] = [page.indexOf(from), page.indexOf(to)];
  if (start < 0 || end < start) throw new Error(`The page has no place for ${block}`);
  return `${page.slice(0, start)}${from}${content}\n${page.slice(end)}`;
}
