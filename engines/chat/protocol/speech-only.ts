/**
 * The one place that separates a model's speech from its protocol, anywhere in a streamed answer: thoughts, channels, control
 * tokens, scripts of the other's part, and tool calls that were written as text. Calls to offered tools are kept, everything
 * else of the protocol is silent.
 *
 * A call counts only where the model itself wrote it: as a block apart (at the beginning of a line or behind a sentence, and
 * nothing follows in its line), and not in the words of a user, a tool or a source that the model repeats.
 * Within prose or quotation marks it is text.
 *
 * Invariants: text without marks passes at once; what is held back is bounded (a mark's length), except for blocks.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { ChatRequest, ChatTool } from '../../../contracts/ports/chat.js';
import { fencedCalls, jsonCalls } from './call-formats.js';
import type { WrittenCall } from './written-call.js';
import { harmonyMessage, MESSAGE_ENDS, mayBeHeader } from './harmony.js';
import { BLOCKS, CONTROL, LABELS, OTHERS_LINE, OWN_LABEL, OWN_ROLES, ROLES } from './marks.js';
import { type BlockKind, OpenBlock } from './open-block.js';
import { pythonicCalls } from './pythonic.js';
import { offeredName } from './tool-names.js';
import { argumentsText } from './written-arguments.js';

/** A call as a server would have told it. */
export interface WrittenToolCall {
  readonly name: string;
  readonly arguments: string;
}

type Request = Pick<ChatRequest, 'messages' | 'known' | 'passages' | 'tools'>;

/** Calls of a block that may turn out to be an example. */
interface Candidate {
  readonly raw: string;
  readonly calls: readonly WrittenCall[];
  readonly strong: boolean;
}

/** What happens to the beginning of the held text. */
interface Step {
  readonly length: number;
  readonly spoken?: string;
  readonly opens?: BlockKind;
  readonly stops?: boolean;
}
type Decision = Step | 'wait' | undefined;

/** Longest mark, and longest beginning of a call in JSON or Python. */
const MOST_MARK = 120;
const SENTENCE_END = /(?:^|[.!?…。！？])\s*$/u;
const QUOTES = /["'`“‘«「『]$/u;
/** The end of a line is kept for these questions. */
const MOST_LINE = 500;

const KEYS = 'name|function|tool|tool_name|recipient_name|type|arguments|parameters';
const JSON_CALL = new RegExp(`^(?:\\[\\s*)?\\{\\s*"(?:${KEYS})"\\s*:`);
const JSON_BEGUN = /^(?:\[\s*)?\{?\s*(?:"\w{0,20}"?)?\s*$/;
const PYTHON_CALL = /^\[[A-Za-z_][\w.]{0,100}\(/;
const PYTHON_BEGUN = /^\[[\w.]{0,100}$/;
const FENCE = /^```(?:json|tool_code|tool_call|tool_calls|python|py)?[ \t]*\n/;
const FENCE_BEGUN = /^`{1,3}$|^```[a-z_]{0,12}[ \t]*$/;

const JSON_BLOCK: BlockKind = { strong: false, quotes: '"', calls: jsonCalls };
const PYTHON_BLOCK: BlockKind = { strong: false, quotes: `"'`, calls: pythonicCalls };
const FENCE_BLOCK: BlockKind = { strong: false, ends: ['\n```'], calls: fencedCalls };

/** Blocks without marks of their own, at the beginning of a line. */
const UNMARKED: readonly (readonly [is: RegExp, begun: RegExp, kind: BlockKind])[] = [
  [JSON_CALL, JSON_BEGUN, JSON_BLOCK],
  [PYTHON_CALL, PYTHON_BEGUN, PYTHON_BLOCK],
  [FENCE, FENCE_BEGUN, FENCE_BLOCK],
];

const squeezed = (text: string): string => text.replace(/\s+/g, '');

export class SpeechOnly {
  #held = '';
  #block: OpenBlock | undefined;
  #candidates: Candidate[] = [];
  readonly #calls: WrittenToolCall[] = [];
  /** What was said since the last line break, and whether anything was. */
  #line = '';
  #said = false;
  #stopped = false;

  constructor(private readonly request: Request) {}

  /** The calls, once the answer has ended. */
  get calls(): readonly WrittenToolCall[] {
    return this.#calls;
  }

  /** The part of the next text that is spoken. */
  take(text: string): string {
    this.#held += text;
    return this.#drain(false);
  }

  /** What is spoken of the held text once nothing follows. */
  rest(): string {
    const spoken = this.#drain(true) + this.#closeBlock();
    this.#keep();
    return spoken;
  }

  #drain(isLast: boolean): string {
    let spoken = '';
    while (this.#held !== '' && !this.#stopped) {
      if (this.#block && !this.#intoBlock(this.#block)) return spoken;
      if (this.#block) {
        spoken += this.#closeBlock();
        continue;
      }
      const step = this.#step(isLast);
      if (step === 'wait') return spoken;
      spoken += this.#perform(step);
    }
    if (this.#stopped) this.#held = '';
    return spoken;
  }

  #perform({ length, spoken = '', opens, stops = false }: Step): string {
    if (opens) this.#block = new OpenBlock(opens, this.#held.slice(0, length));
    this.#held = this.#held.slice(length);
    this.#stopped = stops;
    return spoken === '' ? '' : this.#emit(spoken);
  }

  /** Whether the block has ended. */
  #intoBlock(block: OpenBlock): boolean {
    const end = block.take(this.#held);
    this.#held = end === undefined ? '' : this.#held.slice(end);
    return end !== undefined;
  }

  /** The block's text, if it is speech after all. */
  #closeBlock(): string {
    const block = this.#block;
    this.#block = undefined;
    if (!block?.kind.calls) return '';
    const { strong } = block.kind;
    const calls = block.kind.calls(block.body);
    const areOffered = calls.length > 0 && calls.every(({ name }) => this.#offered(name) !== undefined);
    if (!strong && !areOffered) return this.#emit(block.raw);
    this.#candidates.push({ raw: block.raw, calls, strong });
    return '';
  }

  #step(isLast: boolean): Step | 'wait' {
    const held = this.#held;
    const isLineStart = this.#line.trim() === '';
    const blanks = isLineStart ? (/^\s+/.exec(held)?.[0].length ?? 0) : 0;
    if (blanks > 0) return { length: blanks, spoken: held.slice(0, blanks) };
    const decided = (isLineStart ? this.#atLineStart(held, isLast) : undefined) ?? this.#mark(held, isLast);
    return decided ?? this.#plain(held);
  }

  /** Text until the next place where something may begin. */
  #plain(held: string): Step {
    if (held[0] === '\n') return { length: 1, spoken: '\n' };
    const at = held.slice(1).search(/[<[\n]/) + 1;
    const length = at === 0 ? held.length : at + (held[at] === '\n' ? 1 : 0);
    return { length, spoken: held.slice(0, length) };
  }

  #atLineStart(held: string, isLast: boolean): Decision {
    if (this.#said && OTHERS_LINE.test(held)) return { length: held.length, stops: true };
    const label = OWN_LABEL.exec(held)?.[0].length;
    if (label !== undefined) return { length: label };
    const found = UNMARKED.find(([is]) => is.test(held));
    if (found) return this.#opening(held, found[2]);
    const mayBe =
      LABELS.some((each) => each.startsWith(held)) || UNMARKED.some(([, begun]) => begun.test(held));
    return mayBe && !isLast && held.length < MOST_MARK ? 'wait' : undefined;
  }

  /** A fence's mark is no part of its body; brackets are. */
  #opening(held: string, kind: BlockKind): Step {
    return { length: kind === FENCE_BLOCK ? (FENCE.exec(held)?.[0].length ?? 0) : 0, opens: kind };
  }

  #mark(held: string, isLast: boolean): Decision {
    if (held[0] !== '<' && held[0] !== '[') return undefined;
    return this.#harmony(held) ?? this.#ofBlocks(held) ?? this.#control(held) ?? this.#begun(held, isLast);
  }

  #harmony(held: string): Decision {
    const message = harmonyMessage(held);
    if (!message) return undefined;
    const { headerLength: length, isSpeech, recipient } = message;
    if (isSpeech) return { length };
    const calls =
      recipient === undefined ? undefined : (body: string) => [{ name: recipient, arguments: body.trim() }];
    const before = ['<|start|>', '<|channel|>'];
    return { length, opens: { strong: true, ends: MESSAGE_ENDS, before, calls } };
  }

  #ofBlocks(held: string): Decision {
    for (const { begins, ends, calls } of BLOCKS) {
      const begun = begins.exec(held);
      if (!begun) continue;
      if (calls ? !this.#standsApart : QUOTES.test(this.#line)) return undefined;
      return { length: begun[0].length, opens: { strong: true, ends: ends(begun), calls } };
    }
    return undefined;
  }

  /** Whether a call that begins here is a block of its own. */
  get #standsApart(): boolean {
    const marks = this.#line.match(/["`]/g)?.length ?? 0;
    return SENTENCE_END.test(this.#line) && marks % 2 === 0;
  }

  #control(held: string): Decision {
    const role = ROLES.exec(held);
    if (role && !OWN_ROLES.has((role[1] ?? '').toLowerCase())) return { length: held.length, stops: true };
    if (role) return { length: role[0].length };
    if (
      /^<(?:\|im_start\||start_of_turn|\|start_header_id\||\|turn)>\s*\w{0,12}(?:<\|end_head[^>]*)?$/.test(
        held,
      )
    )
      return undefined;
    const token = mayBeHeader(held) ? undefined : CONTROL.exec(held);
    return token ? { length: token[0].length } : undefined;
  }

  /** Whether more text may make a mark of it. */
  #begun(held: string, isLast: boolean): Decision {
    if (isLast || held.length > MOST_MARK * 2) return undefined;
    if (held[0] === '[') return /^\[[A-Z/_ ]{0,16}$/.test(held) ? 'wait' : undefined;
    if (/^<[\s\d=]/.test(held)) return undefined;
    const isOpen = !held.includes('>') && held.length < MOST_MARK;
    const isRole = /^<(?:\|im_start\||start_of_turn|\|start_header_id\||\|turn)>\s*\w{0,12}(?:<[^>]*)?$/.test(
      held,
    );
    return isOpen || isRole || mayBeHeader(held) ? 'wait' : undefined;
  }

  /** Says a text; calls in front of it may turn out to be part of the prose. */
  #emit(text: string): string {
    if (this.#candidates.length === 0) return this.#say(text);
    const areStrong = this.#candidates.every(({ strong }) => strong);
    const [line = ''] = text.split('\n', 1);
    if (/\S/.test(areStrong ? line : text)) {
      const raw = this.#candidates.map((each) => each.raw).join('');
      this.#candidates = [];
      return this.#say(raw + text);
    }
    if (areStrong && text.includes('\n')) this.#keep();
    return this.#say(text);
  }

  #say(text: string): string {
    this.#said ||= /\S/.test(text);
    const line = this.#line + text;
    this.#line = line.slice(line.lastIndexOf('\n') + 1).slice(-MOST_LINE);
    return text;
  }

  #keep(): void {
    for (const { raw, calls } of this.#candidates.splice(0))
      for (const call of calls) this.#keepCall(call, raw);
  }

  #keepCall({ name, arguments: args }: WrittenCall, raw: string): void {
    const tool = this.#offered(name);
    if (!tool || this.#calls.length >= LIMITS.languageModel.calls) return;
    if (!this.#isRepeated(name, args, raw))
      this.#calls.push({ name: tool.name, arguments: argumentsText(args, tool) });
  }

  #offered(written: string): ChatTool | undefined {
    const { tools } = this.request;
    const name = offeredName(
      written,
      tools.map((tool) => tool.name),
    );
    return tools.find((tool) => tool.name === name);
  }

  /** Whether somebody else has said this call: as it is written here, or its name and arguments together. */
  #isRepeated(name: string, args: unknown, raw: string): boolean {
    const written = squeezed(typeof args === 'string' ? args : JSON.stringify(args));
    const whole = squeezed(raw);
    const { messages, known = [], passages } = this.request;
    const texts = [
      ...messages.flatMap(({ role, content }) => (role === 'user' || role === 'tool' ? [content] : [])),
      ...[...known, ...passages].map(({ text }) => text),
    ];
    return texts
      .filter((text) => text.includes(name))
      .some((text) => {
        const said = squeezed(text);
        return said.includes(whole) || said.includes(written);
      });
  }
}
