/**
 * `{{argument}}` in a tool's URL and body (docs/contract/platform.md 6.5 rule 1; docs/contract/decisions.md 16). In a URL a value is
 * percent-encoded, cannot stand in scheme, host or port, and never makes a segment `.` or `..`; in a body it is
 * escaped for the content type. A declared argument without a value is empty (`null` if JSON requires a value);
 * a placeholder of an undeclared argument stays as it is.
 */
import { ServiceError } from '../errors.js';

/** A name contains no brace, so that a match never looks beyond its own closing. */
const PLACEHOLDER = /\{\{([^{}]{1,256})\}\}/g;

/** What a template is filled with. */
export interface Arguments {
  /** The names that the tool declares. */
  readonly declared: readonly string[];
  readonly values: Readonly<Record<string, unknown>>;
}

type Write = (value: unknown) => string;

const plain: Write = (value) => {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Most characters of a rendered text: many placeholders multiply one large value. */
const MOST_RENDERED = 2_000_000;

/**
 * The text with its placeholders replaced; `write` gets the text before the placeholder.
 * Errors: `invalid_request` if it grows too long.
 */
function substitute(
  template: string,
  { declared, values }: Arguments,
  write: (before: string) => Write,
): string {
  let done = '';
  let at = 0;
  for (const { 0: whole, 1: inner = '', index } of template.matchAll(PLACEHOLDER)) {
    const name = inner.trim();
    if (!declared.includes(name)) continue;
    const before = template.slice(at, index);
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    done += before + write(before)(value);
    at = index + whole.length;
    if (done.length > MOST_RENDERED)
      throw new ServiceError('invalid_request', { message: 'The arguments are too long' });
  }
  return done + template.slice(at);
}

/** Strips what URL parsers ignore: leading spaces, and tabs and line breaks anywhere. */
const read = (url: string): string => url.replace(/[\t\n\r]/g, '').replace(/^[\0-\x20]+/, '');

/** Index at which scheme, host and port end. */
function endOfOrigin(url: string): number {
  const scheme = /^[a-z][a-z0-9+.-]*:[\\/]*/i.exec(url)?.[0].length ?? 0;
  const rest = url.slice(scheme).search(/[\\/?#]/);
  return rest < 0 ? url.length : scheme + rest;
}

/** Why the placeholders are misplaced in the URL, as the end of a sentence; undefined if they are not. */
export function misplacedPlaceholder(template: string): string | undefined {
  const url = read(template);
  const first = url.indexOf('{{');
  return first >= 0 && first < endOfOrigin(url)
    ? 'must not have placeholders in scheme, host or port'
    : undefined;
}

/** A sample of the rendered URL, for checks at save time. */
export const sampleUrl = (url: string): string => url.replace(PLACEHOLDER, 'x');

/** The names of the placeholders of a text, each once. */
export const placeholdersIn = (template: string): readonly string[] => [
  ...new Set([...template.matchAll(PLACEHOLDER)].map(([, name = '']) => name.trim())),
];

/** Encodes also `!'()*`, which are special to some servers. */
const percentEncoded: Write = (value) =>
  encodeURIComponent(plain(value).replace(/[\ud800-\udfff]/gu, '\ufffd')).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const DOTS = /^(\.|%2e){1,2}$/i;

/** What stands between slashes: the segments of the path behind scheme and host. */
const segmentsOf = (url: string): readonly string[] => (read(url).split(/[?#]/, 1)[0] ?? '').split(/[\\/]/);

/** Refuses values of dots, which would lead the call to another path. Errors: `invalid_request`. */
function checkPath(template: string, url: string): void {
  const wanted = segmentsOf(template);
  const escapes = segmentsOf(url).some((segment, index) => DOTS.test(segment) && segment !== wanted[index]);
  if (escapes)
    throw new ServiceError('invalid_request', {
      message: 'An argument in the path of a URL may not be . or ..',
    });
}

/** Errors: `invalid_request` if a value is too long, would change the path, or is in scheme, host or port. */
export function renderUrl(template: string, args: Arguments): string {
  const misplaced = misplacedPlaceholder(template);
  if (misplaced) throw new ServiceError('invalid_request', { message: `url ${misplaced}` });
  const url = substitute(template, args, () => percentEncoded);
  checkPath(template, url);
  return url;
}

const XML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const xmlEscaped: Write = (value) => plain(value).replace(/[&<>"']/g, (sign) => XML[sign] ?? sign);

const inJsonString: Write = (value) => JSON.stringify(plain(value)).slice(1, -1);
const asJson: Write = (value) => JSON.stringify(value ?? null);

/** Follows a JSON template piece by piece, and tracks whether the next value is inside quotes. */
function jsonWriter(): (before: string) => Write {
  let quoted = false;
  return (before) => {
    for (const { 0: sign } of before.matchAll(/\\[\s\S]|"/g)) if (sign === '"') quoted = !quoted;
    return quoted ? inJsonString : asJson;
  };
}

interface Escape {
  readonly fits: RegExp;
  readonly writer: () => (before: string) => Write;
}

const always = (write: Write) => () => () => write;

/** The first that fits the media type applies; without one, values are inserted unchanged. */
const ESCAPES: readonly Escape[] = [
  { fits: /^(application|text)\/(json|[\w.+-]+\+json)$/, writer: jsonWriter },
  { fits: /^application\/x-www-form-urlencoded$/, writer: always(percentEncoded) },
  { fits: /^(application|text)\/(xml|html|[\w.+-]+\+xml)$/, writer: always(xmlEscaped) },
];

/** A header's value, in which nothing has to be escaped. Errors: `invalid_request` if it grows too long. */
export const renderHeader = (template: string, args: Arguments): string =>
  substitute(template, args, () => plain);

/** The body to send; empty if the template is. Errors: `invalid_request` if it grows too long. */
export function renderBody(template: string, contentType: string, args: Arguments): string {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const escape = ESCAPES.find(({ fits }) => fits.test(type));
  return substitute(template, args, escape ? escape.writer() : () => plain);
}
