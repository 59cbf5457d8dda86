/** Results of tools that are longer than is taken: they end with a mark, which whoever reads them sees. */
import { firstBytes, firstUnits } from '../text/text.js';

export const CUT_MARK = '\n[The result was cut here: it is longer.]';

/** The text within `most` UTF-16 code units; with the mark if it is longer, or `isCut` already. */
export const cutResult = (text: string, most: number, isCut = false): string =>
  text.length <= most && !isCut ? text : `${firstUnits(text, most - CUT_MARK.length)}${CUT_MARK}`;

/** The text within `most` bytes of UTF-8, with the mark if it is longer. */
export const cutResultBytes = (text: string, most: number): string =>
  Buffer.byteLength(text) <= most ? text : `${firstBytes(text, most - CUT_MARK.length)}${CUT_MARK}`;
