/**
 * Tool calls that a model has written as text, because its server does not parse them: the formats of Hermes and Qwen, Llama,
 * Mistral, DeepSeek, Kimi, GLM, MiniMax, Gemma and others. Each reader gets what stands between the marks, and gives no calls
 * for anything else.
 */
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { BracketEnd } from './bracket-end.js';
import { pythonicCalls } from './pythonic.js';
import type { ReadCalls, WrittenCall } from './written-call.js';

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const NAMES = ['name', 'function', 'tool', 'tool_name', 'recipient_name'];
const ARGUMENTS = ['arguments', 'parameters', 'args', 'input'];

const firstOf = (value: PlainObject, names: readonly string[]): unknown =>
  names.map((name) => value[name]).find((found) => found !== undefined);

/** A value of JSON as calls: an object with a name and arguments, such an object within `function`, or a list of them. */
function callsIn(value: unknown): readonly WrittenCall[] {
  if (Array.isArray(value)) return value.flatMap(callsIn);
  if (!isPlainObject(value)) return [];
  const inner = value['function'];
  if (isPlainObject(inner)) return callsIn(inner);
  const [name, args] = [firstOf(value, NAMES), firstOf(value, ARGUMENTS)];
  const hasArguments = args === undefined || isPlainObject(args) || typeof args === 'string';
  return typeof name === 'string' && hasArguments ? [{ name, arguments: args ?? {} }] : [];
}

/** Values of JSON one after the other, with blanks, commas or semicolons between them. */
export function jsonCalls(text: string): readonly WrittenCall[] {
  const calls: WrittenCall[] = [];
  let left = text.trim();
  while (left !== '') {
    const end = new BracketEnd('"').in(left);
    const found = end === undefined ? [] : callsIn(parsed(left.slice(0, end)));
    if (found.length === 0) return [];
    calls.push(...found);
    left = left.slice(end).replace(/^[\s,;]+/, '');
  }
  return calls;
}

/** A value that may be JSON, or is text as it stands. */
const valueOf = (text: string): unknown => parsed(text.trim()) ?? text.replace(/^\n|\n$/g, '');

/** Named values: `<parameter=city>Bonn</parameter>` (Qwen), `<parameter name="city">` (MiniMax), `<arg_key>…` (GLM). */
const PARAMETER = /<parameter(?:=|\s+name=")([^">]{1,200})"?[^>]*>([^]*?)(?:<\/parameter>|(?=<parameter)|$)/g;
const ARG_PAIR = /<arg_key>([^<]{1,200})<\/arg_key>\s*<arg_value>([^]*?)<\/arg_value>/g;

const valuesIn = (text: string, pattern: RegExp): PlainObject =>
  Object.fromEntries(
    [...text.matchAll(pattern)].map(([, name = '', value = '']) => [name.trim(), valueOf(value)]),
  );

const FUNCTION = /<function=([^>]{1,200})>([^]*?)(?:<\/function>|(?=<function=)|$)/g;

/** `<function=weather>{"city": "Bonn"}</function>`, or with parameters in it. */
export const functionCalls: ReadCalls = (text) =>
  [...text.matchAll(FUNCTION)].map(([, name = '', body = '']) => {
    const json = parsed(body.trim());
    return { name, arguments: isPlainObject(json) ? json : valuesIn(body, PARAMETER) };
  });

const INVOKE = /<invoke\s+name="([^"]{1,200})"[^>]*>([^]*?)(?:<\/invoke>|(?=<invoke)|$)/g;

export const invokeCalls: ReadCalls = (text) =>
  [...text.matchAll(INVOKE)].map(([, name = '', body = '']) => ({
    name,
    arguments: valuesIn(body, PARAMETER),
  }));

const GLM_NAME = /^\s*([\w.-]{1,200})\s*(?=<arg_key>|$)/;

/** Between `<tool_call>` and its end: JSON (Hermes, Qwen), a function with parameters (Qwen Coder), or pairs (GLM). */
export const taggedCalls: ReadCalls = (text) => {
  if (text.includes('<function=')) return functionCalls(text);
  const name = GLM_NAME.exec(text)?.[1];
  if (name !== undefined) return [{ name, arguments: valuesIn(text, ARG_PAIR) }];
  return jsonCalls(fenced(text));
};

/** The content of a fence, if the text is one. */
const fenced = (text: string): string => /^\s*```\w*\n([^]*?)\n?```\s*$/.exec(text)?.[1] ?? text;

/** Llama's `<|python_tag|>`: JSON, or `weather.call(city="Bonn")`. */
export const pythonTagCalls: ReadCalls = (text) =>
  text.trim().startsWith('{') ? jsonCalls(text) : pythonicCalls(text.trim());

/** A name, then JSON: `weather[ARGS]{…}`, `weather[CALL_ID]x[ARGS]{…}` (Mistral), `weather:0<|…|>{…}` (Kimi). */
const NAMED =
  /\s*([\w.:-]{1,200})\s*(?:\[CALL_ID\][^[{]{0,64})?(?:\[ARGS\]|<[|｜][^|｜]{1,40}[|｜]>)?\s*(?=\{)/y;

function namedCalls(text: string): readonly WrittenCall[] {
  const calls: WrittenCall[] = [];
  for (let at = 0; at < text.length;) {
    NAMED.lastIndex = at;
    const found = NAMED.exec(text);
    const json = text.slice(NAMED.lastIndex);
    const end = found ? new BracketEnd('"').in(json) : undefined;
    if (!found || end === undefined) return text.slice(at).trim() === '' ? calls : [];
    calls.push({ name: found[1] ?? '', arguments: json.slice(0, end) });
    at = NAMED.lastIndex + end;
  }
  return calls;
}

/** Behind Mistral's `[TOOL_CALLS]`; some servers leave the mark in front of each call. */
export const mistralCalls: ReadCalls = (text) => {
  const whole = text.replaceAll('[TOOL_CALLS]', ' ').trim();
  return whole.startsWith('[') || whole.startsWith('{') ? jsonCalls(whole) : namedCalls(whole);
};

const DEEPSEEK = /<｜tool▁call▁begin｜>([^]*?)(?:<｜tool▁call▁end｜>|(?=<｜tool▁call▁begin｜>)|$)/gu;

/** DeepSeek: `function<｜tool▁sep｜>weather`, then JSON in a fence (V3, R1); `weather<｜tool▁sep｜>{…}` (V3.1). */
export const deepseekCalls: ReadCalls = (text) =>
  [...text.matchAll(DEEPSEEK)].flatMap(([, body = '']) => {
    const [first = '', second = ''] = body.split('<｜tool▁sep｜>', 2);
    if (first.trim() !== 'function') return [{ name: first.trim(), arguments: second }];
    const [name = ''] = second.split('\n', 1);
    return [{ name: name.trim(), arguments: fenced(second.slice(name.length + 1)) }];
  });

const KIMI = /<\|tool_call_begin\|>([^]*?)<\|tool_call_argument_begin\|>([^]*?)(?:<\|tool_call_end\|>|$)/g;

export const kimiCalls: ReadCalls = (text) =>
  [...text.matchAll(KIMI)].map(([, name = '', args = '']) => ({ name: name.trim(), arguments: args }));

const GEMMA = /call:([\w.-]{1,200})(\{[^]*?\})(?=\s*(?:call:|<|$))/g;
/** Gemma's text between two marks of its own, and its names without quotation marks. */
const GEMMA_TEXT = /<(?:escape|\|"\|)>([^]*?)<(?:escape|\|"\|)>/g;

/** FunctionGemma and Gemma 4: `call:weather{city:<escape>Bonn<escape>,days:2}`. */
export const gemmaCalls: ReadCalls = (text) => {
  if (!text.includes('call:')) return jsonCalls(text);
  return [...text.matchAll(GEMMA)].map(([, name = '', body = '']) => {
    const texts: string[] = [];
    const held = body.replace(GEMMA_TEXT, (_, each: string) => `"\u0000${texts.push(each) - 1}"`);
    const named = held.replace(/([{,]\s*)([A-Za-z_]\w*)\s*:/g, '$1"$2":');
    const json = named.replace(/"\0(\d+)"/g, (_, index: string) => JSON.stringify(texts[Number(index)]));
    return { name, arguments: json };
  });
};

/** A fence's content: JSON of calls, or Python. */
export const fencedCalls: ReadCalls = (text) =>
  /^\s*[[{]\s*["{]/.test(text) ? jsonCalls(text) : pythonicCalls(text.trim());
