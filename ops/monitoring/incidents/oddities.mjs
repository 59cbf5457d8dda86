/** What callers are spared (ops/monitoring/incidents.mjs says what the fields are). */
import { second } from './faults.mjs';

/** Callers are answered all the same. */
export const ODD = {
  title: 'Oddities that callers are spared',
  metric: '',
  alert: '',
  health: '',
  back: '',
  console: 'Calls: the turns of the call',
  incidents: [
    {
      symptom: 'Nothing, where the model’s server takes any name; else no answers at all',
      log: 'The language model (…) at … lists no model "…", but …: check …',
      todo: 'Set one of the names that the line has, if the server does not take any.',
      settings: ['LLM_MODEL', 'LLM_FALLBACK_MODEL'],
      faults: [],
    },
    {
      symptom: 'An answer ends in mid-sentence',
      log: 'a language model broke its answer off',
      todo: '`cut` in the line says why: `length` (raise the server’s limit of an answer), `content_filter`, `unfinished` (a proxy that cuts streams).',
      settings: ['LLM_MODEL'],
      faults: second([
        'model is cut by length',
        'model is cut by a content filter',
        'model ends without an end',
      ]),
    },
    {
      symptom: 'An agent forgets how the call began',
      log: 'a conversation has outgrown the language model’s window: it is told less of it',
      todo: 'Give the model a larger window, or say how large it is, so that no request is refused first.',
      settings: ['LLM_CONTEXT_TOKENS'],
      faults: second(['model outgrows its window']),
    },
    {
      symptom: 'Nothing',
      log: 'a language model writes its tool calls as text: let its server parse them',
      todo: 'Switch the parser of tool calls on in the model’s server (vLLM: `--enable-auto-tool-choice --tool-call-parser`).',
      settings: [],
      faults: second(['model writes tools as text']),
    },
    {
      symptom: '"One moment" while a tool works',
      log: 'a tool kept somebody on the line waiting',
      todo: 'It is the account’s: tell them, or let them set its execution mode to `background`.',
      settings: [],
      faults: ['tool is slow'],
    },
    {
      symptom: 'An agent knows only a part of what a tool answered',
      log: 'a tool answered more than is taken',
      todo: 'It is the account’s: tell them ([limits.md](../contract/limits.md)).',
      settings: [],
      faults: ['tool answers megabytes'],
    },
    {
      symptom: 'Nothing',
      log: 'an MCP server has forgotten the session: another one was begun',
      todo: 'It was started again. Nothing, unless it happens at every call.',
      settings: [],
      faults: ['mcp is started again'],
    },
    {
      symptom: 'Nothing',
      log: 'an MCP server offers other tools',
      todo: 'Nothing.',
      settings: [],
      faults: ['mcp changes its tools'],
    },
    {
      symptom: 'A pause before a tool’s result',
      log: 'a stream of an MCP server broke off and was resumed',
      todo: 'A proxy between here and there cuts streams: raise its time-out.',
      settings: [],
      faults: ['mcp has a dead stream'],
    },
  ],
};
