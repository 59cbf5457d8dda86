/**
 * UTF-8's byte order mark, which some encoders (.NET's) put before a text. A reader of JSON may ignore it (RFC 8259, 8.1);
 * JSON.parse does not.
 */
const MARK = '\ufeff';

export const withoutByteOrderMark = (text: string): string =>
  text.startsWith(MARK) ? text.slice(MARK.length) : text;
