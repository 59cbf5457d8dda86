const LONE = /\p{Cs}/gu;

/** The text at the same length, with U+FFFD for halves of surrogate pairs, which are no characters and cannot be sent back. */
export const wellFormed = (text: string): string => text.replace(LONE, '\ufffd');
