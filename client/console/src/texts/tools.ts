/** The view Tools. */
export const tools = {
  intro:
    'What agents may call while they talk. A change reaches callers with the next version of each agent that uses it.',
  newName: 'Name of a new tool',
  type: 'Kind',
  types: { webhook: 'Webhook', client: 'Client function', mcp: 'MCP server' },
  address: 'URL',
  none: 'No tools here yet.',
  back: 'All tools',
  trial: 'Try it',
  trialClient: 'The page of a caller answers this tool, so it is tried in a call:',
  trialTalk: 'talk to an agent that has it',
  trialHelp: { webhook: 'The real address is called.', mcp: 'The real server is asked for its tools.' },
  values: 'Arguments (JSON)',
  call: 'Call it now',
  noAnswer: 'no answer',
  removeSure: 'The tool is deleted for good. Versions that were published keep theirs.',
} as const;
