/** The text of a web page: what is read in it, and headings, items and cells as Markdown has them. No tree is made of it. */
import { Parser } from 'htmlparser2';
import { LIMITS } from '../../contracts/limits.js';

/** What stands in these is not read. */
const UNREAD = new Set(
  'script style noscript template svg math iframe object canvas audio video datalist select textarea'.split(
    ' ',
  ),
);
/** Each of these begins a line of its own. */
const BLOCKS = new Set(
  (
    'address article aside blockquote body br caption dd details dialog div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section summary table tbody tfoot thead title tr ul'
  ).split(' '),
);
const MARKS: Readonly<Record<string, string>> = {
  ...{ title: '# ', h1: '# ', h2: '## ', h3: '### ', h4: '#### ', h5: '##### ', h6: '###### ' },
  li: '- ',
};
const CELLS = new Set(['td', 'th']);

const NESTED = new Set([...UNREAD, ...BLOCKS, ...CELLS]);

/** More elements are open at once than are read. */
export class TooDeep extends Error {}

/**
 * A parser in linear time. That of the library looks at all open elements for each closing tag, so all that makes no difference to the text
 * is one without content to it, and what is left is not nested deeper than LIMITS.document.depth.
 */
class BoundedParser extends Parser {
  protected override isVoidElement(name: string): boolean {
    return (name !== '' && !NESTED.has(name)) || super.isVoidElement(name);
  }
}

class Text {
  #lines: string[] = [];
  #line = '';
  #mark = '';
  #endsBlank = true;
  /** Characters that are no blanks, so that white space between a million tags is no text. */
  #length = 0;

  /** What comes once there is more than anybody takes is left out. */
  say(text: string): void {
    const said = text.replace(/\s+/gu, ' ');
    if (said === ' ' ? this.#endsBlank : this.#length > LIMITS.document.textBytes) return;
    if (said !== ' ') this.#length += said.length;
    this.#line += said;
    this.#endsBlank = said.endsWith(' ');
  }

  /** Ends the line; the next one begins with a mark. */
  break(mark = ''): void {
    const line = this.#line.replace(/\s+/gu, ' ').trim();
    // A heading is the beginning of what follows: a blank line goes before it.
    if (line !== '') this.#lines.push(`${this.#mark.startsWith('#') ? '\n' : ''}${this.#mark}${line}`);
    this.#line = '';
    this.#endsBlank = true;
    if (line !== '' || mark !== '') this.#mark = mark;
  }

  whole(): string {
    this.break();
    return this.#lines.join('\n').trim();
  }
}

/** Errors: `TooDeep`. */
export function textOfHtml(html: string): string {
  const text = new Text();
  let unread = 0;
  let depth = 0;
  const parser = new BoundedParser(
    {
      onopentagname(name) {
        depth += 1;
        if (depth > LIMITS.document.depth) throw new TooDeep();
        if (UNREAD.has(name)) unread += 1;
        else if (BLOCKS.has(name)) text.break(MARKS[name]);
        else if (CELLS.has(name)) text.say(' | ');
      },
      ontext(said) {
        if (unread === 0) text.say(said);
      },
      onclosetag(name) {
        depth -= 1;
        if (UNREAD.has(name)) unread -= 1;
        else if (BLOCKS.has(name)) text.break();
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return text.whole();
}

/** Bytes in which a page says how it is written. */
const HEAD = 2048;
const CHARSET = /<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]{1,40})/i;

/** By its byte order mark, its own word, else UTF-8. Undefined if that is not how it is written. */
export function decoded(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, HEAD));
  const isUtf16 = /^(\xff\xfe|\xfe\xff)/.test(head);
  const label = isUtf16
    ? bytes[0] === 0xff
      ? 'utf-16le'
      : 'utf-16be'
    : (CHARSET.exec(head)?.[1] ?? 'utf-8');
  try {
    return new TextDecoder(label, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
