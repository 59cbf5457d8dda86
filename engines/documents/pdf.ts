/** The text of a PDF, page by page. Nothing is fetched, drawn or evaluated. Lines in larger letters are headings. */
import { getDocument } from 'unpdf/pdfjs';
import { LIMITS } from '../../contracts/limits.js';

export interface PdfText {
  readonly pages: number;
  /** Empty if there are more pages than are read. */
  readonly text: string;
}

interface Line {
  readonly text: string;
  /** Of its letters. */
  readonly height: number;
}

interface Item {
  readonly str: string;
  readonly hasEOL: boolean;
  readonly height: number;
}

const isText = (item: object): item is Item => 'str' in item;

function linesOf(items: readonly object[]): Line[] {
  const lines: Line[] = [];
  let [text, height] = ['', 0];
  const end = (): void => {
    const line = text.replace(/\s+/gu, ' ').trim();
    if (line !== '') lines.push({ text: line, height });
    [text, height] = ['', 0];
  };
  for (const item of items.filter(isText)) {
    text += item.str;
    if (item.str.trim() !== '') height = Math.max(height, item.height);
    if (item.hasEOL) end();
  }
  end();
  return lines;
}

/** The height of most letters. */
function usualHeight(lines: readonly Line[]): number {
  const letters = new Map<number, number>();
  for (const { text, height } of lines) {
    const rounded = Math.round(height * 2) / 2;
    letters.set(rounded, (letters.get(rounded) ?? 0) + text.length);
  }
  return [...letters].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

const LARGER = 1.15;
const LONGEST_HEADING = 120;

const shown = ({ text, height }: Line, usual: number): string =>
  height > usual * LARGER && text.length <= LONGEST_HEADING ? `\n## ${text}` : text;

/** Words that are parted at the end of a line. */
const PARTED = /(\p{Ll})-\n(\p{Ll})/gu;

export const textOfLines = (lines: readonly Line[]): string => {
  const usual = usualHeight(lines);
  return lines
    .map((line) => shown(line, usual))
    .join('\n')
    .replace(PARTED, '$1$2')
    .trim();
};

/** Errors: those of pdf.js, of which `PasswordException` is one. */
export async function textOfPdf(bytes: Uint8Array): Promise<PdfText> {
  const loading = getDocument({
    data: bytes,
    ...{ isEvalSupported: false, useWorkerFetch: false, useSystemFonts: false, disableFontFace: true },
    verbosity: 0,
  });
  try {
    const document = await loading.promise;
    const { numPages: pages } = document;
    if (pages > LIMITS.document.pages) return { pages, text: '' };
    const lines: Line[] = [];
    for (let number = 1; number <= pages; number += 1) {
      const page = await document.getPage(number);
      lines.push(...linesOf((await page.getTextContent()).items));
      page.cleanup();
    }
    return { pages, text: textOfLines(lines) };
  } finally {
    await loading.destroy();
  }
}
