/** What can be heard of a text: letters, digits and signs that are read aloud; punctuation is not. */
const SOUND = /[\p{L}\p{N}\p{S}&%@#]/u;

export const hasSound = (text: string): boolean => SOUND.test(text);
