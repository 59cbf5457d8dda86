/** Characters that are read aloud: letters, digits and some signs; punctuation and emoji are not. */
const SOUND = /[\p{L}\p{N}\p{Sc}\p{Sm}&%@#°©®™]/u;

export const hasSound = (text: string): boolean => SOUND.test(text);
