/** Words in place of the names of fields and options, where these do not say enough by themselves; of fields also by their paths. */
type Words = Readonly<Record<string, string>>;

export const LABELS: Words = {
  amd_enabled: 'Detect answering machines',
  outbound: 'Placed calls',
  languages: 'Languages of a call',
  llm: 'Language model',
  sip: 'SIP',
  url: 'URL',
  conversation_init: 'Question before a call',
  web: 'Also before calls of web pages and programs',
  proactive_message: 'Message beside the button',
  consent_required: 'Ask for consent',
  transcript_enabled: 'Show the transcript',
  text_input_enabled: 'Let visitors type',
  mic_muting_enabled: 'Let visitors mute themselves',
  text_contents: 'Words in place of its own',
  hangup_after_seconds: 'Hang up after a silence, in seconds',
  hangup_farewell_enabled: 'Say goodbye before hanging up',
  focus: 'Stay with the task',
  manipulation: 'Resist manipulation',
  expressive: 'Speaks with feeling',
  speaking_language: 'Language it speaks',
  timezone: 'Time zone',
  transfer_destinations: 'People to connect callers to',
  'conversation.transfer_destinations.*.mode': 'When the caller is connected',
  voicemail: 'When a machine answers',
  'conversation.outbound.voicemail.action': 'What is done then',
  'tools.enabled': 'Use the tools',
  transfer_agents: 'Agents to hand calls over to',
  system_tools: 'What it may do by itself',
  'knowledge_base.enabled': 'Look things up',
  'widget.agent_name': 'What it is called',
  consent_text: 'What visitors agree to',
  'analysis.summary.enabled': 'Write a summary',
  'analysis.summary.prompt': 'What the summary is to say',
  'analysis.summary.language': 'Language of the summary',
  data_fields: 'Values to note',
  enum_options: 'Values to choose from',
  enum: 'Values that it may have',
  first_message_mode: 'Who speaks first',
  first_message_prompt: 'What the first message is made of',
  eagerness: 'How soon it answers',
  drafts: 'Think ahead while the caller speaks',
  turn_detector: 'What ends a caller’s turn',
  interruptible: 'Can be interrupted',
  interruption_sensitivity: 'How easily it is interrupted',
  reengage_enabled: 'Ask again when nobody speaks',
  record_audio: 'Record calls',
  recovery_mode: 'After a lost machine, it says',
  recovery_message: 'Sentence after a lost machine',
  filler_mode: 'While a tool takes long, it says',
  filler_message: 'Sentence while a tool takes long',
  tier: 'Language model',
  custom: 'A model of its own',
  base_url: 'Address of the model',
  api_key: 'API key',
  post_call: 'Events after a call',
  hang_up_call: 'May hang up',
  send_digits: 'May press keys of the telephone',
  expects_response: 'Waits for an answer',
  execution_mode: 'How it runs',
  warm_connect: 'How the colleague takes over',
  public_enabled: 'Open to everybody',
  overrides_allowed: 'What a session may change',
};

/** Names of options that mean the same in every field. */
const COMMON: Words = {
  boolean: 'Yes or no',
  enum: 'One of several',
  string: 'Text',
  integer: 'Whole number',
  hangup: 'Hang up',
  hang_up: 'Hang up',
  leave_message: 'Leave the message',
  leave_prompt_message: 'Leave what the model makes of the message',
  continue: 'Go on talking',
  authorization_bearer: 'A bearer token',
  authorization_basic: 'A user and a password',
};

const SAID: Words = { auto: 'A usual line', fixed: 'A sentence of yours', off: 'Nothing' };

/** Names of options, by field. Options without a row are shown as they are. */
const OPTIONS: Readonly<Record<string, Words>> = {
  first_message_mode: {
    off: 'The caller',
    fixed: 'The agent, with the sentence below',
    prompt: 'The agent, in words that the model chooses',
  },
  recovery_mode: SAID,
  filler_mode: SAID,
  turn_detector: {
    auto: 'As the gateway is set',
    tables: 'Words and pauses',
    audio: 'A model that listens',
    both: 'Both',
  },
  tier: { instant: 'The quickest', medium: 'The usual one', high: 'The most thorough' },
  execution_mode: {
    blocking: 'The agent waits for it',
    background: 'The agent keeps talking',
    fire_and_forget: 'Nobody waits for its answer',
  },
  mode: {
    cold: 'At once',
    warm: 'After a word with the colleague',
    text: 'In writing',
    voice: 'By voice',
  },
  status: { active: 'Active', archived: 'Archived' },
  type: {
    contains: 'It is said',
    not_contains: 'It is not said',
    matches: 'A pattern matches',
    not_matches: 'A pattern does not match',
    tool_called: 'A tool is called',
    tool_not_called: 'A tool is not called',
    ended_by: 'Who ends the call',
    language: 'The language of the answers',
    turns: 'How many turns it takes',
    judged: 'The language model judges it',
    answers_within: 'Answers come soon enough',
    silent_within: 'Silent soon enough when interrupted',
    talk_over: 'How long both talk at once',
    never_interrupts: 'It never interrupts',
    answers_all: 'It leaves nothing without an answer',
  },
  warm_connect: { confirm: 'By saying yes', direct: 'By picking up' },
  error_handling: {
    passthrough: 'The agent is told what went wrong',
    hide: 'The agent is told only that it failed',
  },
};

/** Help in place of the schema's, which speaks to programs, where options are shown in words. */
const HELP: Words = {
  first_message_mode: '',
  first_message: 'Said as it is.',
  first_message_prompt: 'Told to the model, which makes its first words of it.',
  voice_id: '',
  turn_detector: 'Without the model that listens, words and pauses decide.',
  recovery_mode: 'Where a call goes on after the machine that held it was lost.',
  recovery_message: 'Said where that is chosen.',
  filler_mode: 'Where tools take longer than a second.',
  filler_message: 'Said where that is chosen.',
  execution_mode: 'Only a webhook can do without an answer.',
  timeout_seconds: 'At most 120, unless the agent keeps talking.',
  public_enabled: 'Pages on the allowed origins may call it without a key.',
  text: 'Capitals and small letters are alike.',
  pattern:
    'A regular expression, without backreferences and look-arounds; capitals and small letters are alike.',
  overrides_allowed: 'Who may change the first message may also change what it is made of.',
};

export const helpOf = (field: string, told: string | undefined): string => HELP[field] ?? told ?? '';

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' });

export const optionName = (field: string, option: string): string =>
  /languages?$/.test(field)
    ? (LANGUAGE_NAMES.of(option) ?? option)
    : (OPTIONS[field]?.[option] ?? COMMON[option] ?? option.replaceAll('_', ' '));
