/**
 * The marks by which models tell their protocol from their speech, as rows: how each begins and ends, and what stands between.
 * Sources: the chat templates of the models that the comments name.
 */
import {
  deepseekCalls,
  functionCalls,
  gemmaCalls,
  invokeCalls,
  kimiCalls,
  mistralCalls,
  pythonTagCalls,
  taggedCalls,
} from './call-formats.js';
import type { ReadCalls } from './written-call.js';

export interface Block {
  /** At the beginning of a text; its first group may be used in `ends`. */
  readonly begins: RegExp;
  /** Any of these ends it, and is part of it; so does the end of the answer. */
  readonly ends: (begun: RegExpExecArray) => readonly string[];
  /** Absent: nobody hears it, and it does nothing. */
  readonly calls?: ReadCalls;
}

const until =
  (...ends: readonly string[]) =>
  (): readonly string[] =>
    ends;

/** Thoughts and answers of tools that a model makes up. */
const SILENT: readonly Block[] = [
  {
    begins: /^<(think|thinking|thought|thoughts|reasoning|reflection|seed:think|tool_response)>/i,
    ends: ([, name = '']) => [`</${name}>`, `</${name.toLowerCase()}>`],
  },
  { begins: /^\[THINK\]/, ends: until('[/THINK]') },
  // Gemma 4
  { begins: /^<\|channel>/, ends: until('<channel|>') },
];

const CALLS: readonly Block[] = [
  // Hermes, Qwen, GLM
  { begins: /^<tool_call>/, ends: until('</tool_call>'), calls: taggedCalls },
  // Llama 3.1, Qwen Coder
  { begins: /^(?=<function=[^>]{1,200}>)/, ends: until('</function>'), calls: functionCalls },
  // MiniMax, and others that were taught Anthropic's format
  {
    begins: /^<(minimax:tool_call|function_calls)>/,
    ends: ([, name = '']) => [`</${name}>`],
    calls: invokeCalls,
  },
  { begins: /^(?=<invoke\s+name=)/, ends: until('</invoke>'), calls: invokeCalls },
  // Llama 3
  { begins: /^<\|python_tag\|>/, ends: until('<|eom_id|>', '<|eot_id|>'), calls: pythonTagCalls },
  // Mistral
  { begins: /^\[TOOL_CALLS\]/, ends: until('</s>'), calls: mistralCalls },
  // DeepSeek
  { begins: /^<｜tool▁calls▁begin｜>/u, ends: until('<｜tool▁calls▁end｜>'), calls: deepseekCalls },
  { begins: /^(?=<｜tool▁call▁begin｜>)/u, ends: until('<｜tool▁call▁end｜>'), calls: deepseekCalls },
  // Kimi
  { begins: /^<\|tool_calls_section_begin\|>/, ends: until('<|tool_calls_section_end|>'), calls: kimiCalls },
  // FunctionGemma, Gemma 4
  { begins: /^<start_function_call>/, ends: until('<end_function_call>'), calls: gemmaCalls },
  { begins: /^<\|tool_call>/, ends: until('<tool_call|>'), calls: gemmaCalls },
  // Granite, Phi
  { begins: /^<\|tool_call\|>/, ends: until('<|/tool_call|>', '<|end|>'), calls: gemmaCalls },
  { begins: /^<\|tool_call_start\|>/, ends: until('<|tool_call_end|>'), calls: pythonTagCalls },
];

export const BLOCKS: readonly Block[] = [...SILENT, ...CALLS];

/** Whose turn a template begins. What others than the assistant say is not the agent's: the answer ends before it. */
const ROLE = '(assistant|model|ai|user|system|tool|human)';
export const ROLES = new RegExp(
  `^(?:<\\|im_start\\|>|<start_of_turn>|<\\|start_header_id\\|>|<\\|turn>)\\s*${ROLE}\\s*(?:<\\|end_header_id\\|>)?\\n*`,
  'i',
);
export const OWN_ROLES: ReadonlySet<string> = new Set(['assistant', 'model', 'ai']);

/** Single tokens: `<|im_end|>`, `<｜end▁of▁sentence｜>`, `</s>`, `[/INST]`, and ends without a beginning. */
export const CONTROL =
  /^(?:<[|｜][\p{L}\p{N}_▁/.:-]{1,40}[|｜]>|<\/?s>|<(?:eos|bos|pad|end_of_turn|turn\|)>|\[\/?INST\]|<\/(?:think|thinking|thought|thoughts|reasoning|reflection|tool_call|tool_response|function|seed:think)>|\[\/THINK\]|\[TOOL_RESULTS\])/u;

/** Labels of a script that a model goes on with: it plays the user's part, too. */
export const OTHERS_LINE = /^(?:User|Human|Customer|Caller):/;
export const OWN_LABEL = /^(?:Assistant|Agent|AI):[ \t]*/;
export const LABELS: readonly string[] = [
  'User:',
  'Human:',
  'Customer:',
  'Caller:',
  'Assistant:',
  'Agent:',
  'AI:',
];
