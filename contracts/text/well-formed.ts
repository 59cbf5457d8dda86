const LONE = /\p{Cs}/gu;
const NO_CHARACTER = /[\ufffe\uffff]/gu;

/** The text at the same length, with U+FFFD for what Unicode says is no character: code uses these as marks of its own. */
export const withoutNonCharacters = (text: string): string => text.replace(NO_CHARACTER, '\ufffd');

/** The same, and for halves of surrogate pairs, which cannot be sent back. For text that is whole. */
export const wellFormed = (text: string): string => withoutNonCharacters(text).replace(LONE, '\ufffd');
