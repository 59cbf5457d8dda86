/** What accounts have configured: tools, receivers, telephone providers (ops/monitoring/incidents.mjs says what the fields are). */
/** What an account has configured: its own to mend, and no concern of `/health`. */
const ofAccount = (part) =>
  `increase(gateway_part_requests_total{part="${part}", name="account", outcome!~"ok|refused|cancelled"}[5m]) > 0`;

export const TOOL = {
  title: 'Tools',
  metric: ofAccount('tool'),
  alert: 'GatewayToolsFail',
  health: '',
  console: 'Calls: the tool’s result in the transcript; Tools: try it there',
  back: 'A tool at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say that something did not work',
      log: 'A tool at … failed (…)',
      todo: 'The line has the `workspaceId` of the account that owns it: tell them.',
      settings: [],
      faults: ['tool answers 500'],
    },
    {
      symptom: 'The same, or that it may have happened',
      log: 'A tool at … cannot be reached (…)',
      todo: 'The same. If it concerns many accounts, look at the way out of your network (`OUTBOUND_ALLOW` for private addresses).',
      settings: ['OUTBOUND_ALLOW'],
      faults: ['tool closes connections'],
    },
    {
      symptom: '"One moment", then that it may have happened',
      log: 'A tool at … did not answer in time',
      todo: 'The same. An account may set `timeout_seconds` of a tool.',
      settings: [],
      faults: ['tool hangs'],
    },
    {
      symptom: 'The same',
      log: 'A tool at … refused the key (401)',
      todo: 'The account’s credentials for it are wrong or have expired: tell them.',
      settings: [],
      faults: ['tool refuses the key'],
    },
    {
      symptom: 'The same',
      log: 'A tool at … has nothing there (404)',
      todo: 'The account’s address for it is wrong: tell them.',
      settings: [],
      faults: ['tool is not there'],
    },
  ],
};

export const MCP = {
  title: 'MCP servers',
  metric: ofAccount('mcp'),
  alert: 'GatewayToolsFail',
  health: '',
  console: 'Calls: the tool’s result in the transcript; Tools: try it there',
  back: 'An MCP server at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say that something did not work, or do not know the tool',
      log: 'An MCP server at … failed (…)',
      todo: 'The line has the `workspaceId` of the account that owns it: tell them.',
      settings: [],
      faults: ['mcp answers 500'],
    },
    {
      symptom: '"One moment", then that it may have happened',
      log: 'An MCP server at … did not answer in time',
      todo: 'The same.',
      settings: [],
      faults: ['mcp hangs', 'mcp has a lost stream'],
    },
    {
      symptom: 'The same',
      log: 'An MCP server at … refused the key (401)',
      todo: 'The account’s credentials for it are wrong or have expired: tell them.',
      settings: [],
      faults: ['mcp refuses the key'],
    },
    {
      symptom: 'The same',
      log: 'An MCP server at … has nothing there (404)',
      todo: 'The account’s address for it is wrong: tell them.',
      settings: [],
      faults: ['mcp is not there'],
    },
  ],
};

export const WEBHOOK = {
  title: 'Receivers of webhooks',
  metric: ofAccount('webhook'),
  alert: 'GatewayWebhooksFail',
  health: '',
  console: 'Deliveries: status "Failed" or "Waiting", with the answer to each attempt; "Deliver again"',
  back: 'A webhook at … is back after … s',
  incidents: [
    {
      symptom: 'An account misses post-call events',
      log: 'A webhook at … cannot be reached…',
      todo: 'Nothing is lost for a day: events are sent again with growing gaps. Tell the account that the line names. What was given up after a day is delivered again in the console ([webhooks.md](../webhooks.md)).',
      settings: [],
      faults: ['webhook receiver is away'],
    },
    {
      symptom: 'The same',
      log: 'A webhook at … failed (500)',
      todo: 'The same.',
      settings: [],
      faults: ['webhook receiver answers 500'],
    },
    {
      symptom: 'The same',
      log: 'A webhook at … did not answer in time',
      todo: 'The same: it has ten seconds.',
      settings: [],
      faults: ['webhook receiver hangs'],
    },
    {
      symptom: 'The same',
      log: 'A webhook at … has nothing there (404)',
      todo: 'The same. Is it the right address?',
      settings: [],
      faults: ['webhook receiver is not there'],
    },
    {
      symptom: 'The same',
      log: 'A webhook at … sends elsewhere (308)',
      todo: 'The same: redirects are not followed, the account has to enter the new address.',
      settings: [],
      faults: ['webhook receiver has moved'],
    },
  ],
};

export const PHONE = {
  title: 'Telephone providers',
  metric: 'increase(gateway_part_requests_total{part="phone", outcome!~"ok|refused|cancelled"}[5m]) > 0',
  alert: 'GatewayPhoneFail',
  health: '',
  console: 'Phone: placed calls have failed',
  back: 'The telephone provider (…) at … is back after … s',
  incidents: [
    {
      symptom: 'Placed calls fail, transfers and hang-ups do not work',
      log: 'The telephone provider (…) at … refused the key (401)…',
      todo: 'Enter new credentials for the numbers of the workspace that the line names.',
      settings: [],
      faults: ['telephone provider refuses the key'],
    },
    {
      symptom: 'The same',
      log: 'The telephone provider (…) at … cannot be reached…',
      todo: 'Look at the provider’s status page, and at the way out of your network.',
      settings: [],
      faults: ['telephone provider is away'],
    },
    {
      symptom: 'The same',
      log: 'The telephone provider (…) at … failed (500)',
      todo: 'Look at the provider’s status page.',
      settings: [],
      faults: ['telephone provider answers 500'],
    },
    {
      symptom: 'The same',
      log: 'The telephone provider (…) at … did not answer in time',
      todo: 'The same.',
      settings: [],
      faults: ['telephone provider hangs'],
    },
  ],
};
